import type { TravelAnswer, TravelOutage } from '../../model/travel-ports.ts';

/** The call that was answered: its name, with which the texts of failures begin, and the status of its response. */
interface AnsweredCall {
  name: string;
  status: number | undefined;
}

/** Creates the record of whether a travel API gives usable answers. It is kept in memory: each process makes calls of its own. */
export function outageRecord(now: () => number) {
  let outage: TravelOutage | undefined;
  return {
    record: (answer: TravelAnswer<unknown>, call: AnsweredCall): void => {
      const isUsable = isUsableAnswer(answer, call);
      if (isUsable) outage = undefined;
      if (isUsable === false)
        outage = { status: call.status, error: errorOf(answer, call), since: outage?.since ?? now() };
    },
    current: () => outage,
  };
}

/** An answer that refuses one request shows that the travel API works. Returns undefined if the answer says nothing about that. */
function isUsableAnswer(answer: TravelAnswer<unknown>, { status }: AnsweredCall): boolean | undefined {
  if (answer.kind === 'unauthorized') return false;
  if (answer.kind !== 'unavailable') return true;
  // A gateway may have sent it; people to whom this happens have a finding.
  if (answer.bareStatus !== undefined) return undefined;
  if (answer.isRejected || answer.isUnsupported) return true;
  // A call whose time was over before its turn was never sent.
  return status === undefined && !answer.isUnanswered ? undefined : false;
}

function errorOf(answer: TravelAnswer<unknown>, { name, status }: AnsweredCall): string | undefined {
  if (answer.kind !== 'unavailable') return undefined;
  const reason = answer.text.replace(`${name}: `, '');
  return reason === String(status) ? undefined : reason;
}
