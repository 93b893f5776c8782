/** An alert to the operator: a condition that has opened, grown or ended. It has no personal data. */
export interface Alert {
  /** The event type of the signed webhook, e.g. `hold.opened` or `travelOutage.cleared`. */
  type: string;
  /** In epoch milliseconds. */
  at: number;
  severity: 'failing' | 'warning' | 'info';
  /** One or two sentences for a person. */
  text: string;
  /** The data of the signed webhook. */
  data: object;
  /** The path on the admin page that shows it, e.g. `/decisions`. */
  path?: string | undefined;
  /** The incident that the alert opens or ends, for a receiver that has incidents. Undefined if no later alert ends it. */
  incident?: { key: string; isOver: boolean } | undefined;
}

/** A way on which the operator gets alerts, as the settings configure it. */
export interface Channel {
  name: 'webhook' | 'slack' | 'teams' | 'pagerduty' | 'email';
  /** Makes one attempt to deliver an alert. It never fails. */
  deliver(message: Message, signal: AbortSignal): Promise<Delivery>;
}

/** An alert to be delivered. All attempts have the same id, by which a receiver recognises an alert that it has received before. */
export interface Message {
  id: string;
  alert: Alert;
}

/**
 * The answer of the receiver to one attempt, or the reason why the attempt failed. Neither has the URL or a password. `retryAfterMs` is
 * the time that the receiver asks to wait; 0 if it asks for none.
 */
export type Delivery = { answer: string } | { failure: string; retryAfterMs: number };

/** The dependencies of a channel. */
export interface ChannelDeps {
  /** PUBLIC_URL; undefined: messages have no link to the admin page. */
  publicUrl: string | undefined;
  /** Epoch milliseconds of the wall clock. */
  now(): number;
}

/** The appearance of each severity: the colours are those of Adaptive Cards, and PagerDuty has names of its own. */
export const severities = {
  failing: { title: 'Failing', emoji: ':red_circle:', color: 'Attention', pagerduty: 'critical' },
  warning: { title: 'Warning', emoji: ':large_yellow_circle:', color: 'Warning', pagerduty: 'warning' },
  info: { title: 'Information', emoji: ':large_green_circle:', color: 'Good', pagerduty: 'info' },
} satisfies Record<Alert['severity'], { title: string; emoji: string; color: string; pagerduty: string }>;

/** The text of links to the admin page. */
export const LINK_TEXT = 'Open the admin page';

/** Returns the address of the admin page that shows an alert; undefined if the public address is not known. */
export function pageAddress(
  { publicUrl }: ChannelDeps,
  { path = '' }: Pick<Alert, 'path'>,
): string | undefined {
  return publicUrl && `${publicUrl.replace(/\/+$/, '')}/admin${path}`;
}
