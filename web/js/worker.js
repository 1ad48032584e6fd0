// Starts the worker with the module that the page runs too.
//
// Messages may arrive while the wasm is still loading: they are kept and given
// to the handler that Rust sets, in their order.
import init from './fslab.js';

const early = [];
self.onmessage = (event) => early.push(event);

try {
  await init();
  for (const event of early) self.onmessage(event);
} catch (error) {
  // A rejected top-level await is no `error` event for the page: say it outside.
  setTimeout(() => { throw error; });
}
