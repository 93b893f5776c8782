import { planCodes } from '../model/findings.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import { dayText, numberText, toWords } from '../model/texts.ts';
import type { FoundConditions } from '../provisioning/conditions/conditions.ts';
import { describeState } from '../provisioning/conditions/describe-state.ts';
import type { ConnectionWeek, Week, WeeklyMails } from '../store/queues/weekly-mails.ts';
import { newAlertId } from './alert-sender.ts';
import type { Delivery } from './channel.ts';
import type { Mail } from './email-channel.ts';

/** Interval of looking whether a week has ended, in milliseconds. */
const LOOK_MS = 60_000;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The first Monday of the epoch. */
const MONDAY_MS = 4 * DAY_MS;
/** A week is told at six o'clock on Monday, UTC. */
const TOLD_AFTER_MS = 6 * 3_600_000;

interface WeeklyMailDeps {
  conditions: { read(): Promise<FoundConditions> };
  weeklyMails: WeeklyMails;
  /** Makes one attempt to send a mail. It never fails. */
  send(mail: Mail, signal: AbortSignal): Promise<Delivery>;
  /** The address of the admin page; undefined if the public address is not known. */
  page: string | undefined;
  runtime: Pick<Runtime, 'now' | 'wait' | 'log'>;
}

/** Starts the loop that sends a mail about each week. */
export function weeklyMail(deps: WeeklyMailDeps): { stop(): Promise<void> } {
  const stop = new AbortController();
  const { runtime } = deps;
  const watch = async () => {
    while (!stop.signal.aborted) {
      await tellLastWeek(deps, stop.signal).catch((error: unknown) => {
        runtime.log.warn({ err: error }, 'the weekly mail could not be made; retrying');
      });
      await runtime.wait(LOOK_MS, stop.signal);
    }
  };
  const ended = watch();
  return {
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

async function tellLastWeek(
  { conditions, weeklyMails, send, page, runtime }: WeeklyMailDeps,
  signal: AbortSignal,
): Promise<void> {
  const now = runtime.now();
  const week = lastWeek(now);
  const id = await weeklyMails.claim(week, newAlertId(), now);
  if (id === undefined) return;
  const days = daysOf(week);
  const text = weeklyText(week, {
    connections: await weeklyMails.read(week, now),
    found: await conditions.read(),
    page,
  });
  const delivery = await send({ id, subject: `Jetbridge: the week ${days}`, text }, signal);
  if ('answer' in delivery) await weeklyMails.markSent(week, runtime.now());
  else runtime.log.warn({ failure: delivery.failure }, 'the weekly mail could not be sent; retrying');
}

/** Returns the last week, from Monday to Sunday in UTC, that has ended and is due. */
function lastWeek(now: number): Week {
  const to = Math.floor((now - TOLD_AFTER_MS - MONDAY_MS) / WEEK_MS) * WEEK_MS + MONDAY_MS;
  return { from: to - WEEK_MS, to };
}

function daysOf({ from, to }: Week): string {
  return `${dayText(from)} to ${dayText(to - DAY_MS)}`;
}

interface WeekReport {
  connections: ConnectionWeek[];
  found: FoundConditions;
  page: string | undefined;
}

/** Returns the text of the mail: short lines, which a telephone shows whole. */
function weeklyText(week: Week, { connections, found: { conditions, facts }, page }: WeekReport): string {
  const of = (numberOf: (one: ConnectionWeek) => number) =>
    numberText(connections.reduce((sum, one) => sum + numberOf(one), 0));
  const held = facts.summaries.reduce((sum, { states }) => sum + states.held, 0);
  const findings = findingLines(facts);
  return [
    `The week ${daysOf(week)} (UTC).`,
    describeState({ ...facts, conditions }).sentence,
    [
      `Joined: ${of(({ joined }) => joined)}`,
      `Left: ${of(({ left }) => left)}`,
      `Held now: ${numberText(held)}`,
    ].join('\n'),
    ['Travel API usable:', ...connections.map((one) => `- ${one.connection}: ${uptimeText(one)}`)].join('\n'),
    ['Findings now:', ...(findings.length > 0 ? findings : ['- none'])].join('\n'),
    ...(page === undefined ? [] : [page]),
  ].join('\n\n');
}

/** Rounds down: an outage never makes 100 %. */
function uptimeText({ outageMs }: ConnectionWeek): string {
  return `${Math.floor((1 - outageMs / WEEK_MS) * 10_000) / 100} %`;
}

function findingLines({ summaries }: Pick<FoundConditions['facts'], 'summaries'>): string[] {
  const counts = new Map<string, number>();
  for (const [code, people] of summaries.flatMap(({ findings }) => [...findings]))
    if (!planCodes.has(code)) counts.set(code, (counts.get(code) ?? 0) + people);
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([code, people]) => `- ${toWords(code)}: ${numberText(people)}`);
}
