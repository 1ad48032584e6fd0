// Starts the page. A file of its own, so that a strict content policy may
// forbid inline scripts.
import init from './fslab.js';

await init();
