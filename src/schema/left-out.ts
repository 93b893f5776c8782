import { type Json, SchemaFault } from './resource.ts';

/** A value of a request that the resource does not have, because it does not fit the schema. */
export interface LeftOutValue {
  /**
   * `severalValues`: the first of several values is used, because the attribute has one value; `valueRefused`: the value does not
   * fit; `attributeUnknown`: no schema has an attribute of this name.
   */
  code: 'severalValues' | 'valueRefused' | 'attributeUnknown';
  /** The name of the attribute, or of its sub-attribute. */
  attribute: string;
  /** The value as text, shortened; undefined if no schema has the attribute, because the value may be a secret. */
  value?: string;
  /** What is wrong with the value. */
  fault: string;
}

/** Which values that do not fit the schema are left out and reported, and do not cause a fault. */
export interface Tolerance {
  /** `furtherValues`: where an attribute has one value, those of a list that follow the first usable one. */
  leavesOut: 'nothing' | 'furtherValues' | 'anyValue';
  report(value: LeftOutValue): void;
}

/**
 * Returns the result of `action`, or undefined if it throws because of the value, and the value is left out for that. `isFault` tells
 * which errors are caused by the value.
 */
export function tolerate<T>(
  tolerance: Tolerance | undefined,
  { attribute, value }: { attribute: string; value: Json | undefined },
  action: () => T,
  isFault: (error: unknown) => boolean = isValueFault,
): { result: T } | undefined {
  try {
    return { result: action() };
  } catch (error) {
    if (tolerance?.leavesOut !== 'anyValue' || !isFault(error) || !(error instanceof Error)) throw error;
    tolerance.report(leftOutValue('valueRefused', { attribute, value, fault: error.message }));
    return undefined;
  }
}

/** True for the fault of a value, and false for a body of another resource type. */
export function isValueFault(error: unknown): boolean {
  return error instanceof SchemaFault && error.kind === 'value';
}

/** The longest text of a reported value, in characters. A longer value is reported without its end. */
const MAX_LENGTH = 200;

/** Describes a value that is left out. */
export function leftOutValue(
  code: LeftOutValue['code'],
  { attribute, value, fault }: { attribute: string; value: Json | undefined; fault: string },
): LeftOutValue {
  const described = { code, attribute: shorten(attribute), fault };
  if (value === undefined) return described;
  return { ...described, value: shorten(typeof value === 'string' ? value : JSON.stringify(value)) };
}

function shorten(text: string): string {
  const fitting = storable(text.slice(0, MAX_LENGTH));
  return text.length > MAX_LENGTH ? `${fitting}…` : fitting;
}

/** Returns the text without what the store cannot keep: NUL characters and unpaired surrogates. */
function storable(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '�');
}

/** The values of one request that were left out, without repetitions. A request with very many reports only the first ones. */
export function leftOutList(): { values: LeftOutValue[]; report: Tolerance['report'] } {
  const values: LeftOutValue[] = [];
  const report = (value: LeftOutValue) => {
    const isKnown = values.some(
      ({ code, attribute }) => code === value.code && attribute === value.attribute,
    );
    if (!isKnown && values.length < MAX_REPORTED) values.push(value);
  };
  return { values, report };
}

const MAX_REPORTED = 50;
