const dateTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/** The moment that a dateTime names, in epoch milliseconds (RFC 7643 §2.3.5); without a zone it is UTC. */
export function momentOf(text: string): number | undefined {
  const match = dateTime.exec(text);
  if (!match) return undefined;
  const [, time, , , zone] = match;
  const moment = Date.parse(time && !zone ? `${text}Z` : text);
  return Number.isNaN(moment) ? undefined : moment;
}
