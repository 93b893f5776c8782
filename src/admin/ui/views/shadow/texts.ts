import type { ShadowPerson } from '../../../../operations/connections/shadow.ts';
import type { Mark } from '../../components/texts.ts';

type Outcome = ShadowPerson['outcome'];

/** The outcomes of going live for a person, in the order of the report. */
export const outcomeMarks: Record<Outcome, Mark> = {
  create: { symbol: '+', label: 'create' },
  link: { symbol: '→', label: 'link' },
  change: { symbol: '~', label: 'change', color: 'blue' },
  reactivate: { symbol: '↑', label: 'activate', color: 'yellow' },
  end: { symbol: '↓', label: 'archive', color: 'red' },
  leftOut: { symbol: '!', label: 'left out', color: 'yellow' },
  same: { symbol: '✓', label: 'same' },
  unplanned: { symbol: '…', label: 'not planned' },
  notSent: { symbol: '–', label: 'not sent' },
};
