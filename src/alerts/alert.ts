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
  /** The path on the admin page that shows it, e.g. `/held`. */
  path?: string | undefined;
}
