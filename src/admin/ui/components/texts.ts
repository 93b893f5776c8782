/** Converts a name of the API, such as `emailTaken` or `createAccount`, to words. */
export function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
