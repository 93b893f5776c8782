/** Webhooks that fail have places of their own, lest they take those of the others. */
export type PlaceKind = 'well' | 'failing';

/** Who is served at the moment: at most so many of each kind, and each webhook once. */
export class Places {
  readonly #sizes: Record<PlaceKind, number>;
  readonly #served = new Map<string, { kind: PlaceKind; work: Promise<void> }>();

  constructor(sizes: Record<PlaceKind, number>) {
    this.#sizes = sizes;
  }

  /** All work that is under way. */
  get work(): Promise<void>[] {
    return [...this.#served.values()].map(({ work }) => work);
  }

  free(kind: PlaceKind): number {
    const taken = [...this.#served.values()].filter((one) => one.kind === kind).length;
    return this.#sizes[kind] - taken;
  }

  has(webhookId: string): boolean {
    return this.#served.has(webhookId);
  }

  /** Takes a place until the work is done, which never fails. */
  take(kind: PlaceKind, webhookId: string, begin: () => Promise<void>): void {
    const work = begin().finally(() => this.#served.delete(webhookId));
    this.#served.set(webhookId, { kind, work });
  }
}
