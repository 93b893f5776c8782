const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The words of this UUID mark an empty slot. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
/** The number of 32-bit words of a UUID. */
const WORDS = 4;
const INITIAL_SLOTS = 1_024;
/** The share of slots that may be in use: with more of them, a search visits too many slots. */
const MAX_LOAD = 0.6;

/** A UUID as four unsigned 32-bit numbers. */
type Words = readonly [number, number, number, number];

/**
 * A set of ids of travelers. UUIDs in their usual form, which most travel services use, are kept as 16 bytes in a hash table
 * with open addressing; a `Set` of strings takes some 100 bytes for each, 100 MB for a million travelers. Other ids are kept
 * as strings.
 */
export class IdSet {
  readonly #others = new Set<string>();
  /** `WORDS` numbers for each slot. */
  #slots = new Uint32Array(INITIAL_SLOTS * WORDS);
  #used = 0;

  /** The number of different ids. */
  get size(): number {
    return this.#used + this.#others.size;
  }

  /** Adds an id, if the set does not contain it. */
  add(id: string): void {
    if (!isCompact(id)) {
      this.#others.add(id);
      return;
    }
    if (!insert(this.#slots, toWords(id))) return;
    this.#used += 1;
    if (this.#used * WORDS > MAX_LOAD * this.#slots.length) this.#slots = doubled(this.#slots);
  }

  /** True if the id was added. */
  has(id: string): boolean {
    if (!isCompact(id)) return this.#others.has(id);
    return !isEmpty(this.#slots, find(this.#slots, toWords(id)));
  }
}

function isCompact(id: string): boolean {
  return UUID.test(id) && id !== NIL_UUID;
}

function toWords(uuid: string): Words {
  return [
    Number.parseInt(uuid.slice(0, 8), 16),
    Number.parseInt(uuid.slice(9, 13) + uuid.slice(14, 18), 16),
    Number.parseInt(uuid.slice(19, 23) + uuid.slice(24, 28), 16),
    Number.parseInt(uuid.slice(28), 16),
  ];
}

/** Returns false if the slots contain these words already. */
function insert(slots: Uint32Array, words: Words): boolean {
  const place = find(slots, words);
  if (!isEmpty(slots, place)) return false;
  slots.set(words, place);
  return true;
}

/** Returns the place of the slot that contains these words, or else of the empty slot where they belong. */
function find(slots: Uint32Array, words: Words): number {
  let place = (hash(words) * WORDS) & (slots.length - 1);
  while (!isEmpty(slots, place) && !contains(slots, place, words))
    place = (place + WORDS) & (slots.length - 1);
  return place;
}

function isEmpty(slots: Uint32Array, place: number): boolean {
  return slots[place] === 0 && slots[place + 1] === 0 && slots[place + 2] === 0 && slots[place + 3] === 0;
}

function contains(slots: Uint32Array, place: number, [first, second, third, fourth]: Words): boolean {
  return (
    slots[place] === first &&
    slots[place + 1] === second &&
    slots[place + 2] === third &&
    slots[place + 3] === fourth
  );
}

/** Returns a 32-bit number to which all bits contribute: parts of a UUID may be the same in many, such as a time. */
function hash([first, second, third, fourth]: Words): number {
  let mixed = first;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) ^ second;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) ^ third;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) ^ fourth;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

/** Returns the same words in twice as many slots. */
function doubled(slots: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(slots.length * 2);
  for (let place = 0; place < slots.length; place += WORDS) {
    const [first = 0, second = 0, third = 0, fourth = 0] = slots.subarray(place, place + WORDS);
    if (!isEmpty(slots, place)) insert(larger, [first, second, third, fourth]);
  }
  return larger;
}
