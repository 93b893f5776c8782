const began = performance.now();

/** Prints a line of progress on stderr, with the time since the start. */
export function printProgress(text) {
  const seconds = Math.round((performance.now() - began) / 1000);
  const clock = `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stderr.write(`${clock}  ${text}\n`);
}
