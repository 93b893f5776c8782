import type { ConnectionHealth } from '../../../../operations/overview.ts';
import type { ShadowPerson } from '../../../../operations/shadow.ts';
import type { Mark } from '../../components/texts.ts';

type Outcome = ShadowPerson['outcome'];

/** The outcomes of going live for a person, in the order of the report. */
export const outcomeMarks: Record<Outcome, Mark & { text: string }> = {
  create: { symbol: '+', label: 'create', color: 'blue', text: 'A traveler is created.' },
  link: { symbol: '→', label: 'link', color: 'blue', text: 'Linked to a traveler that exists.' },
  change: { symbol: '~', label: 'change', color: 'yellow', text: 'The traveler is changed.' },
  reactivate: {
    symbol: '↑',
    label: 'activate',
    color: 'yellow',
    text: 'The archived traveler is activated again.',
  },
  end: { symbol: '↓', label: 'archive', color: 'red', text: 'The traveler is archived or deleted.' },
  leftOut: {
    symbol: '!',
    label: 'left out',
    color: 'yellow',
    text: 'Left out, or an admin must decide first.',
  },
  same: { symbol: '✓', label: 'same', color: 'green', text: 'Nothing changes.' },
  unplanned: {
    symbol: '…',
    label: 'not planned',
    color: 'gray',
    text: 'Not planned yet: look again in a minute.',
  },
  notSent: {
    symbol: '–',
    label: 'not sent',
    color: 'gray',
    text: 'Not sent by the identity provider: stays as it is.',
  },
};

export type Mode = ConnectionHealth['mode'];

/** The effect of each mode, and the change when a connection is put into it. */
export const modeTexts: Record<Mode, { label: string; does: string; change: string }> = {
  live: {
    label: 'live',
    does: 'What the identity provider states is carried out.',
    change:
      'What the identity provider states is carried out, also what was planned until now. The travelers of these people are read again first, and the safety valve applies.',
  },
  shadow: {
    label: 'shadow',
    does: 'Everything is planned and reported, and nothing is sent to the travel API.',
    change:
      'Nothing is sent to the travel API any more, departures included. The report shows what going live would do.',
  },
  paused: {
    label: 'paused',
    does: 'Only people whom the identity provider writes since the pause began are provisioned.',
    change:
      'Only people whom the identity provider writes from now on are provisioned. The changes of all others wait, departures included.',
  },
};
