/** Something that happens at its time. */
interface Entry<T> {
  time: number;
  /** What was planned earlier happens earlier at the same time. */
  number: number;
  work: T;
}

/** What is planned, in order of time: a heap, as much is planned and the next is all that is asked for. */
export class Agenda<T> {
  readonly #heap: Entry<T>[] = [];
  readonly #end: number;
  #planned = 0;

  /** What would be at `end` or later never happens. */
  constructor(end: number) {
    this.#end = end;
  }

  /** Plans something for a time. */
  add(time: number, work: T): void {
    if (time >= this.#end) return;
    this.#planned += 1;
    this.#heap.push({ time, number: this.#planned, work });
    this.#rise(this.#heap.length - 1);
  }

  /** Takes what comes next off the agenda. */
  next(): { time: number; work: T } | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first && last && first !== last) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!this.#isBefore(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const least = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(least, at)) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (!a || !b) return a !== undefined;
    return a.time < b.time || (a.time === b.time && a.number < b.number);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a && b) [this.#heap[one], this.#heap[other]] = [b, a];
  }
}
