// Moves the map as a visitor would and measures the script time of each frame: what the
// events cost, and what the drawing does. Reports on the console.

// The same moves several times over: what disturbs a frame only ever slows it.
const ROUNDS = 5;

const nativeFrame = window.requestAnimationFrame.bind(window);
let spent = 0;

const timed = (does) => {
  const start = performance.now();
  try {
    return does();
  } finally {
    spent += performance.now() - start;
  }
};

window.requestAnimationFrame = (draw) => nativeFrame((now) => timed(() => draw(now)));

const nextFrame = () => new Promise(nativeFrame);

// One frame: an event, all that follows from it at once, and the drawing of the one before.
async function frame(act, times) {
  await nextFrame();
  times.push(spent);
  spent = 0;
  const start = performance.now();
  act();
  // Components are updated in microtasks.
  for (let i = 0; i < 8; i++) await null;
  spent += performance.now() - start;
}

function fire(canvas, Type, name, at, more) {
  const box = canvas.getBoundingClientRect();
  const clientX = box.left + at.x;
  const clientY = box.top + at.y;
  const init = { bubbles: true, cancelable: true, pointerId: 1, clientX, clientY, ...more };
  canvas.dispatchEvent(new Type(name, init));
}

async function run() {
  let canvas;
  while (!canvas) {
    await nextFrame();
    canvas = document.querySelector('canvas');
  }
  // Not the map's first frames, in which it is made.
  for (let i = 0; i < 30; i++) await nextFrame();
  // An event that the script makes cannot be captured.
  canvas.setPointerCapture = () => {};
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await round(canvas));
  console.log(`map-frames ${JSON.stringify(rounds)} end`);
}

// 120 frames: in and out again, and some dragging on the way.
async function round(canvas) {
  spent = 0;
  const times = [];
  const middle = { x: canvas.clientWidth / 3, y: canvas.clientHeight / 3 };
  const at = { ...middle };
  const wheel = (deltaY) => frame(() => fire(canvas, WheelEvent, 'wheel', middle, { deltaY }), times);
  const pointer = (name) => frame(() => fire(canvas, PointerEvent, name, at, { buttons: 1 }), times);
  const drag = async (frames) => {
    Object.assign(at, middle);
    await pointer('pointerdown');
    for (let i = 0; i < frames - 2; i++) {
      at.x += 7;
      at.y += 5;
      await pointer('pointermove');
    }
    await pointer('pointerup');
  };

  for (let i = 0; i < 20; i++) await wheel(-60);
  await drag(20);
  for (let i = 0; i < 20; i++) await wheel(-60);
  await drag(20);
  for (let i = 0; i < 40; i++) await wheel(60);
  await frame(() => {}, times);
  // The first is of no event.
  return times.slice(1).map((time) => Math.round(time * 1000) / 1000);
}

run();
