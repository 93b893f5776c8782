import type { TravelAnswer, TravelFailure, TravelUserPage, TravelUsers } from '../../model/travel-ports.ts';

/** The number of travelers of a page. */
const PAGE = 100;
/** The number of pages that are read at the same time, and saved together. */
const READ_AHEAD = 10;

type Answers = TravelAnswer<TravelUserPage>[];

/**
 * Reads the list of all travelers, and returns its pages in order, several at a time. The next pages are read while the
 * caller saves the last ones. The reading ends with the last page, or with a failure.
 */
export async function* readTravelerPages(
  travel: Pick<TravelUsers, 'readPage'>,
): AsyncGenerator<TravelUserPage[] | TravelFailure> {
  let start = 0;
  let step = PAGE;
  let reading: Promise<Answers> = Promise.all([travel.readPage(start, PAGE)]);
  for (;;) {
    const { pages, failure } = usablePages(await reading, step);
    const last = pages.at(-1);
    start += sum(pages);
    if (last && !last.isLast && !failure) {
      step = last.length;
      reading = readAhead(travel, start, last);
    }
    if (last) yield pages;
    if (failure) yield failure;
    if (failure || !last || last.isLast) return;
  }
}

/**
 * Reads the pages after a page. A travel API may have shorter pages than asked for. If it gives no total, only the next page
 * is known to exist; and if it has page tokens, only the next page can be found.
 */
function readAhead(
  travel: Pick<TravelUsers, 'readPage'>,
  start: number,
  { length, total, isTotalGiven, nextToken }: TravelUserPage,
): Promise<Answers> {
  if (nextToken !== undefined) return Promise.all([travel.readPage(start, PAGE, nextToken)]);
  const remaining = isTotalGiven ? Math.ceil((total - start) / length) : 1;
  const count = Math.max(1, Math.min(READ_AHEAD, remaining));
  return Promise.all(
    Array.from({ length: count }, (_, index) => travel.readPage(start + index * length, PAGE)),
  );
}

/**
 * Returns the pages up to the first that is the last one, that failed, or that has another length than `step`: the pages
 * after it begin at a wrong place.
 */
function usablePages(answers: Answers, step: number): { pages: TravelUserPage[]; failure?: TravelFailure } {
  const pages: TravelUserPage[] = [];
  for (const answer of answers) {
    if (answer.kind !== 'ok') return { pages, failure: answer };
    const { value } = answer;
    pages.push(value);
    if (value.isLast || value.length !== step) break;
  }
  return { pages };
}

function sum(pages: TravelUserPage[]): number {
  return pages.reduce((count, { length }) => count + length, 0);
}
