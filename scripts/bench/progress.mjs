const began = performance.now();

/** Tells on stderr what is going on, with the time since the start. */
export function say(text) {
  const seconds = Math.round((performance.now() - began) / 1000);
  const clock = `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stderr.write(`${clock}  ${text}\n`);
}
