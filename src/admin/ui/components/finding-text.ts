/** Returns the code of a finding as words, e.g. `email taken` for `emailTaken`. */
export function findingText(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
