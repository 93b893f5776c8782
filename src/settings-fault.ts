import { relative } from 'node:path';

/** One fault of the settings: file (or environment), place in it, what is wrong, what would be right. */
export interface Fault {
  file: string;
  path: string;
  problem: string;
  remedy: string;
}

/** The settings cannot be used; nothing was started. */
export class SettingsFault extends Error {
  constructor(faults: Fault[]) {
    super(faults.map(faultLine).join('\n'));
    this.name = 'SettingsFault';
  }
}

/** One line for one fault, whatever the values in it look like. */
function faultLine({ file, path, problem, remedy }: Fault): string {
  return `${file} ${path}: ${problem}. ${remedy}`.replace(/\s+/g, ' ');
}

/** A path as the admin knows it: relative when below the present folder. */
export function shownPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near.startsWith('..') ? file : near;
}
