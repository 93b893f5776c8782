/** Converts a name of the API, such as `emailTaken` or `createAccount`, to words. */
export function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A number with separators, e.g. `1,204`. */
export function numberText(count: number): string {
  return count.toLocaleString('en');
}

/** A number and a noun, e.g. `1 traveler` or `1,204 travelers`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}
