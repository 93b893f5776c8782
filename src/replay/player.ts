import { bodyOf, judge, type Mismatch } from './expectation.ts';
import { readAt } from './json-path.ts';
import { type Outgoing, outgoing } from './request.ts';
import type { Scenario, Step } from './scenario.ts';
import type { Variables } from './variables.ts';
import type { Wire, WireReply } from './wire.ts';

/** A step that was played. */
export interface Played {
  step: Step;
  /** From 0. */
  index: number;
  method: string;
  /** Path and query as they were sent. */
  target: string;
  mismatches: Mismatch[];
}

/** What scenarios are played with. */
export interface Stage {
  /** The SCIM base URL. */
  url: string;
  wire: Wire;
  /** Milliseconds; only differences count. */
  now(): number;
  afterStep?:
    | ((scenario: Scenario, step: Step, index: number, variables: Variables) => Promise<void>)
    | undefined;
}

/**
 * Plays a scenario to its end, whatever differs: later steps tell more, and the last ones often clean up. Captures go
 * into `variables`.
 */
export async function play(scenario: Scenario, variables: Variables, stage: Stage): Promise<Played[]> {
  const played: Played[] = [];
  for (const [index, step] of scenario.steps.entries()) {
    const request = outgoing(stage.url, step.request, variables);
    const { replies, mismatches } = await carryOut(step, request, stage);
    const differing = replies.flatMap((reply) => judge(reply, step.expect, variables));
    const reply = replies.find(({ status }) => status === step.expect.status[0]) ?? replies.at(-1);
    capture(step, reply, variables);
    const { method, target } = request;
    played.push({ step, index, method, target, mismatches: [...mismatches, ...differing] });
    await stage.afterStep?.(scenario, step, index, variables);
  }
  return played;
}

interface Carried {
  replies: WireReply[];
  mismatches: Mismatch[];
}

async function carryOut(step: Step, request: Outgoing, stage: Stage): Promise<Carried> {
  const { count = 1, concurrency = 1, minPerSecond, exactlyOne } = step.request.repeat ?? {};
  const begun = stage.now();
  const carried: Carried = { replies: [], mismatches: [] };
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await sendOnce(request, stage.wire, carried);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, concurrency) }, worker));
  const perSecond = Math.floor((count * 1_000) / Math.max(1, stage.now() - begun));
  if (minPerSecond !== undefined && perSecond < minPerSecond)
    carried.mismatches.push({ at: 'requests a second', expected: { $gte: minPerSecond }, actual: perSecond });
  const statuses = carried.replies.map(({ status }) => status);
  if (exactlyOne !== undefined && statuses.filter((status) => status === exactlyOne).length !== 1)
    carried.mismatches.push({ at: 'statuses', expected: `exactly one ${exactlyOne}`, actual: statuses });
  return carried;
}

async function sendOnce(request: Outgoing, wire: Wire, { replies, mismatches }: Carried): Promise<void> {
  try {
    replies.push(await wire.send(request.origin, request.target, request));
  } catch (error) {
    mismatches.push({ at: 'connection', expected: 'an answer', actual: String(error) });
  }
}

/** A capture that finds nothing leaves its variable unset. */
function capture({ capture: captures }: Step, reply: WireReply | undefined, variables: Variables): void {
  const body = reply && bodyOf(reply);
  for (const [name, path] of Object.entries(captures)) {
    const value = readAt(body, path);
    if (value === undefined || value === null) delete variables[name];
    else variables[name] = value;
  }
}
