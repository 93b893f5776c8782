/** Two million names tell one another apart by so many bits well enough, and these are all that is kept of them. */
const BITS = 1 << 24;

/** The local parts of a company's addresses, none twice, however many there are. */
export class Addresses {
  readonly #taken = new Uint8Array(BITS / 8);

  /** The address of somebody; their number, which is theirs alone, comes into it when another may have the name. */
  take(firstName: string, lastName: string, number: number): string {
    const name = [plain(firstName), plain(lastName)].filter(Boolean).join('.');
    return this.#claim(name) && name !== '' ? name : `${name}${number + 1}`;
  }

  #claim(name: string): boolean {
    let hash = 0x811c9dc5;
    // FNV-1a. A name that is free may seem to be taken, never the other way round.
    for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    const bit = (hash >>> 0) % BITS;
    const byte = this.#taken[bit >> 3] ?? 0;
    this.#taken[bit >> 3] = byte | (1 << (bit & 7));
    return (byte & (1 << (bit & 7))) === 0;
  }
}

/** Letters that are more than one with a sign on it. */
const spelled = new Map(
  Object.entries({ æ: 'ae', ø: 'o', œ: 'oe', ß: 'ss', ł: 'l', đ: 'd', ä: 'ae', ö: 'oe', ü: 'ue' }),
);

/** A name in the letters that every mail server takes; words are joined by hyphens. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFC')
    .replace(/./gu, (letter) => spelled.get(letter) ?? letter)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
