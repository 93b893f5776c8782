import { readFileSync } from 'node:fs';

/** What is wrong with a file that should hold JSON, and what would be right. */
export interface Unreadable {
  problem: string;
  remedy: string;
  /** True when there is no such file. */
  isMissing: boolean;
}

/** Reads a file of JSON, or tells what keeps it from being read, with the line where that is known. */
export function readJsonFile(file: string): { json: unknown } | Unreadable {
  const text = readText(file);
  if (typeof text !== 'string') return text;
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    return { ...syntaxFault(text, String(error)), isMissing: false };
  }
}

/** Without the mark that some editors put at the beginning. */
function readText(file: string): string | Unreadable {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = typeof error === 'object' && error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') {
      return { problem: 'does not exist', remedy: 'Create it, or correct its name.', isMissing: true };
    }
    const problem =
      code === 'EISDIR' ? 'is a folder, not a file' : `cannot be read (${String(code ?? error)})`;
    return { problem, remedy: 'Name a file that Jetbridge may read.', isMissing: false };
  }
}

/** A string as a whole, or one of the slips that JSON does not forgive: comments, and commas before a closing bracket. */
const slips = /"(?:\\.|[^"\\])*"|\/[/*]|,(?=\s*[}\]])/g;

function syntaxFault(text: string, message: string): Omit<Unreadable, 'isMissing'> {
  if (text.trim() === '') return { problem: 'is empty', remedy: 'Write one JSON object, at least {}.' };
  for (const { 0: slip, index } of text.matchAll(slips)) {
    const where = placeOf(text, index);
    if (slip === ',')
      return { problem: `has a comma after the last entry, ${where}`, remedy: 'Remove that comma.' };
    if (!slip.startsWith('"'))
      return { problem: `has a comment, ${where}`, remedy: 'Remove it: JSON has no comments.' };
  }
  return {
    problem: `is not JSON${whereabouts(text, message)}`,
    remedy: 'Correct it there: names and texts stand in double quotes, commas between entries.',
  };
}

/** Node tells the position of some faults, and quotes what is around the others. */
function whereabouts(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `, ${placeOf(text, Number(position))}`;
  return ` (${message.replace(/^SyntaxError: |,? is not valid JSON$/g, '').replace(/\s+/g, ' ')})`;
}

function placeOf(text: string, position: number): string {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
