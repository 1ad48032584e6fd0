// Starts the page. A file of its own, so that a strict content policy may
// forbid inline scripts.
import init from './fslab.js';

try {
  await init();
} catch (error) {
  document.body.textContent = `fslab did not start: ${error}`;
  throw error;
}
