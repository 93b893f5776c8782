import { exitCodeFor } from '../../src/cli/exit-code.ts';

/** Returns the line that the operator gets for an error of the system. */
function lineFor(message: string, parts: { code: string; syscall: string }): string | undefined {
  const lines: string[] = [];
  expect(exitCodeFor(Object.assign(new Error(message), parts), (line) => lines.push(line))).toBe(1);
  return lines[0];
}

test('only a port that may not be opened is answered with advice about PORT', () => {
  const code = 'EACCES';
  expect(lineFor('listen EACCES: permission denied 127.0.0.1:80', { code, syscall: 'listen' })).toBe(
    'listen EACCES: permission denied 127.0.0.1:80. Set PORT above 1023, or give Jetbridge the right to it.',
  );
  expect(lineFor("EACCES: permission denied, open '/data/x'", { code, syscall: 'open' })).toBe(
    "EACCES: permission denied, open '/data/x'. Run the command as the user of the server, or give that user the right to it, or set JETBRIDGE_DATA to a folder of its own.",
  );
});
