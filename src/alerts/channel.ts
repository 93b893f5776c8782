import type { Alert } from './alert.ts';

/** A way to the operator that the settings configure. */
export interface Channel {
  name: 'webhook' | 'slack' | 'teams' | 'email';
  /** Makes one attempt to deliver an alert. It never fails. */
  deliver(message: Message, signal: AbortSignal): Promise<Delivery>;
}

/** An alert on its way. All attempts have the same id, so that a receiver recognises an alert that it has received before. */
export interface Message {
  id: string;
  alert: Alert;
}

/**
 * The answer of the receiver to one attempt, or the reason why the attempt failed. Neither has the URL or a password. `retryAfterMs` is
 * the time that the receiver asks to wait; 0 if it asks for none.
 */
export type Delivery = { answer: string } | { failure: string; retryAfterMs: number };

/** What the channels take from their surroundings. */
export interface ChannelDeps {
  /** PUBLIC_URL; undefined: messages have no link to the admin page. */
  publicUrl: string | undefined;
  /** Epoch milliseconds of the wall clock. */
  now(): number;
}

/** The appearance of each severity. The names of the colours are those of Adaptive Cards. */
export const severities = {
  failing: { title: 'Failing', emoji: ':red_circle:', color: 'Attention' },
  warning: { title: 'Warning', emoji: ':large_yellow_circle:', color: 'Warning' },
  info: { title: 'Information', emoji: ':large_green_circle:', color: 'Good' },
} satisfies Record<Alert['severity'], { title: string; emoji: string; color: string }>;

/** The text of links to the admin page. */
export const LINK_TEXT = 'Open the admin page';

/** Returns the address of the admin page that shows an alert; undefined if the public address is not known. */
export function pageAddress({ publicUrl }: ChannelDeps, { path = '' }: Alert): string | undefined {
  return publicUrl && `${publicUrl.replace(/\/+$/, '')}/admin${path}`;
}
