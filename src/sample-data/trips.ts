import { bookByTelephone } from './billing.ts';
import { book } from './booking.ts';
import { type Context, DAY, HOUR, LENGTH } from './context.ts';
import type { Chapter, Traveler } from './simulation.ts';
import { type Trip, tripPlan } from './trip-plan.ts';

/** Plans trips, evenly over the working hours from the day on which everybody is there; each is searched, agreed to and booked at its times. */
export function planTrips(chapter: Chapter): void {
  const { agenda, wish } = chapter;
  if (wish.trips > 0) agenda.add(searching(chapter, 0), begin(chapter, 0));
}

function begin(chapter: Chapter, number: number) {
  return async (context: Context) => {
    const { agenda, dice, travelers, wish } = chapter;
    if (number + 1 < wish.trips) agenda.add(searching(chapter, number + 1), begin(chapter, number + 1));
    const party = travelers.party(dice, chapter.now(), dice.weighted(sizes).count);
    await search(chapter, context, party);
    if (dice.chance(0.05)) bookByTelephone(chapter, party);
    chapter.progress();
  };
}

const sizes = [
  { count: 1, weight: 80 },
  { count: 2, weight: 13 },
  { count: 3, weight: 5 },
  { count: 4, weight: 2 },
];

function searching({ wish: { trips, now } }: Chapter, number: number): number {
  const [from, to] = [workedUntil(now - LENGTH + 4 * DAY), workedUntil(now)];
  return timeAfter(from + ((number + 0.5) / trips) * (to - from));
}

async function search(chapter: Chapter, context: Context, party: Traveler[]): Promise<void> {
  const { agenda, company, dice, now } = chapter;
  const [first] = party;
  if (!first) return;
  const travelerIds = party.map(({ id }) => id);
  const currency = company.branches[first.branch]?.currency ?? 'EUR';
  const plan = tripPlan({ currency, dice }, { count: party.length, city: first.city }, now());
  const { fields, projectCodeIds } = company;
  const searched = await context.stories.searchTrip({
    ...{ travelerIds, search: plan.search, offers: plan.offers },
    ...(dice.chance(0.25) ? { projectCodeId: dice.of(projectCodeIds) } : {}),
    customFields: dice.chance(0.7)
      ? [
          {
            customFieldId: fields.reason.id,
            values: [{ customFieldOptionId: dice.of([...fields.reason.options.values()]) }],
          },
        ]
      : [],
  });
  const [booker = first] = dice.chance(0.15) ? chapter.travelers.party(dice, now(), 1) : party;
  const { rates } = searched.doc;
  const trip = { tripProjectId: searched.id, travelerIds, bookerId: booker.id, rates, plan };
  // Some only look.
  if (dice.chance(0.06)) return;
  if (searched.doc.approvalStatus === 'bookingAllowed')
    agenda.add(now() + dice.between(5, 50) * 60_000, book(chapter, trip));
  else decide(chapter, trip, searched.doc.approvalStatus === 'declined');
}

/** The approver answers within a day, and sometimes an admin is asked after them. */
function decide(chapter: Chapter, trip: Trip, isDeclined: boolean): void {
  const { agenda, dice, now } = chapter;
  const soon = now() + dice.between(2, 24) * HOUR;
  const appeal = async ({ stories }: Context) => {
    await stories.allowBooking(trip.tripProjectId);
    agenda.add(now() + dice.between(10, 120) * 60_000, book(chapter, trip));
  };
  if (isDeclined) {
    if (dice.chance(0.3)) agenda.add(soon, appeal);
    return;
  }
  const agrees = dice.chance(0.85);
  agenda.add(soon, async ({ stories }) => {
    if (agrees) {
      await stories.approveTrip(trip.tripProjectId);
      agenda.add(now() + dice.between(10, 300) * 60_000, book(chapter, trip));
      return;
    }
    await stories.declineTrip(trip.tripProjectId);
    decide(chapter, trip, true);
  });
}

/** From eight to six, Monday to Friday. */
const OPENS = 8 * HOUR;
const HOURS = 10 * HOUR;
const WEEK = 7 * DAY;
/** A Monday, in epoch milliseconds. */
const MONDAY = 4 * DAY;

/** How long people have worked since that Monday, in milliseconds. */
export function workedUntil(time: number): number {
  const weeks = Math.floor((time - MONDAY) / WEEK);
  const inWeek = time - MONDAY - weeks * WEEK;
  const days = Math.floor(inWeek / DAY);
  const today = Math.min(HOURS, Math.max(0, inWeek - days * DAY - OPENS));
  return weeks * 5 * HOURS + (days < 5 ? days * HOURS + today : 5 * HOURS);
}

/** The other way round: the time, in epoch milliseconds, at which people have worked so long. */
export function timeAfter(worked: number): number {
  const weeks = Math.floor(worked / (5 * HOURS));
  const days = Math.floor((worked - weeks * 5 * HOURS) / HOURS);
  return Math.floor(MONDAY + weeks * WEEK + days * DAY + OPENS + (worked % HOURS));
}
