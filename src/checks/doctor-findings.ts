/** The result of one check of the doctor. `remedy` tells the operator how to correct a warning or a fault. */
export interface DoctorResult {
  check: string;
  state: 'ok' | 'warning' | 'fault';
  text: string;
  remedy?: string;
}

/** A result before its check is named. */
export type Finding = Omit<DoctorResult, 'check'>;

/** Names the check of some findings. */
export function toResults(check: string, findings: Finding[]): DoctorResult[] {
  return findings.map((finding) => ({ check, ...finding }));
}

/** A finding that needs nothing. */
export function ok(text: string): Finding {
  return { state: 'ok', text };
}

/** A finding that the operator should know. */
export function warning(text: string, remedy: string): Finding {
  return { state: 'warning', text, remedy };
}

/** A finding for which something does not work. */
export function fault(text: string, remedy: string): Finding {
  return { state: 'fault', text, remedy };
}
