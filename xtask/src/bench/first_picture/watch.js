// Notes when a file is chosen, when its filesystem is open, when the first map of it
// arrives, and when that map has been drawn. Stands before the page's own script.

const times = {};
window.firstPicture = times;

document.addEventListener('change', (event) => {
  if (event.target.type !== 'file') return;
  // What came before is of the sample that a first visit opens.
  for (const key of Object.keys(times)) delete times[key];
  times.chosen = performance.now();
}, true);

window.Worker = class extends Worker {
  constructor(...how) {
    super(...how);
    this.addEventListener('message', ({ data: [answer] }) => {
      if (answer.Opened) times.opened ??= performance.now();
      if (answer.Scanning?.preview || answer.Mapped) times.map ??= performance.now();
    });
  }
};

const { putImageData } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.putImageData = function (...what) {
  putImageData.apply(this, what);
  if (times.map) times.drawn ??= performance.now();
};
