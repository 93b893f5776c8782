import { chooseReading, extensionTest } from './attribute-names.ts';
import { type Attribute, findAttribute } from './attributes.ts';
import { cleanText, cleanValue } from './clean-text.ts';
import { comparisonCost, matchesComparison, toComparand } from './compare.ts';
import type { AttributePath, Comparison, Filter, Operand } from './filter-parser.ts';
import { isObject, type Json, type JsonObject, ownValue } from './resource.ts';
import { type ResourceType, resolveAttribute } from './resource-types.ts';

/** Makes a function that tells whether a resource matches a filter (RFC 7644 §3.4.2.2). An unknown attribute has no values. */
export function filterTest(type: ResourceType, filter: Filter): (resource: JsonObject) => boolean {
  return testAtOnce(testOfResource(type, filter, 'verbatim'));
}

/**
 * Like `filterTest`, for a filter of a mapping: texts are compared as rules read them, without invisible characters and blanks at both
 * ends.
 */
export function conditionTest(type: ResourceType, filter: Filter): (resource: JsonObject) => boolean {
  return testAtOnce(testOfResource(type, filter, 'cleaned'));
}

function testAtOnce(test: Test<JsonObject>): (resource: JsonObject) => boolean {
  return (resource) => runAtOnce(test(resource, newMeter()));
}

/** Like `filterTest`, but awaits `pause` after a few milliseconds of work, so that other requests are served meanwhile. */
export function pausingFilterTest(
  type: ResourceType,
  filter: Filter,
): (resource: JsonObject, pause: () => Promise<void>) => Promise<boolean> {
  const test = testOfResource(type, filter, 'verbatim');
  return async (resource, pause) => {
    const steps = test(resource, newMeter());
    let step = steps.next();
    while (!step.done) {
      await pause();
      step = steps.next();
    }
    return step.value;
  };
}

/** Returns for each element of an attribute whether it matches a value filter, i.e. the filter in brackets. */
export function matchElements(
  attribute: Attribute | undefined,
  filter: Filter,
  elements: readonly Json[],
): boolean[] {
  const test = toTest(filter, valuesInElement, 'verbatim');
  return elements.map((element) => runAtOnce(test({ element, attribute }, newMeter())));
}

/**
 * Makes a function that reads the values at a path of a mapping: all elements of a multi-valued attribute, or those that match its
 * value filter, as `conditionTest` compares them.
 */
export function pathReader(type: ResourceType, path: AttributePath): (resource: JsonObject) => Json[] {
  const valuesAt = valuesInResource(type, path);
  const test = path.filter && toTest(path.filter, valuesInElement, 'cleaned');
  return (resource) => {
    const { elements, attribute, sub } = valuesAt(resource);
    const isSelected = (element: Json) => !test || runAtOnce(test({ element, attribute }, newMeter()));
    return elements.filter(isSelected).flatMap((element) => readPart(element, sub));
  };
}

/** A computation that yields after each step of a few milliseconds. */
type Steps<T> = Generator<void, T, void>;

/** The work since the last pause, in characters read (`comparisonCost`). */
interface Meter {
  work: number;
}

/** The work after which a pause is due, in characters read. */
const STEP_WORK = 500_000;

/** The cost of visiting one value, in characters read. */
const VISIT_WORK = 16;

function newMeter(): Meter {
  return { work: 0 };
}

/** Counts work. Returns true if a pause is due. */
function isPauseDue(meter: Meter, work: number): boolean {
  meter.work += work;
  if (meter.work < STEP_WORK) return false;
  meter.work = 0;
  return true;
}

function runAtOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The form in which texts are compared: as they were sent, or as rules read them. */
type TextForm = 'verbatim' | 'cleaned';

/** Tells whether a filter is true for a subject: a resource, or an element of an attribute. */
type Test<Subject> = (subject: Subject, meter: Meter) => Steps<boolean>;

/** The values of an attribute, and the sub-attribute of them that a path names. */
interface Values {
  elements: readonly Json[];
  attribute: Attribute | undefined;
  sub: string | undefined;
}

/** Makes a function that finds the values of the attribute that a path names. */
type Lookup<Subject> = (path: AttributePath) => (subject: Subject) => Values;

function testOfResource(type: ResourceType, filter: Filter, form: TextForm): Test<JsonObject> {
  return toTest(filter, (path) => valuesInResource(type, path), form);
}

/** Converts a filter to a test, operand by operand. The parser limits its depth. */
function toTest<Subject>(filter: Filter, lookUp: Lookup<Subject>, form: TextForm): Test<Subject> {
  switch (filter.op) {
    case 'and':
    case 'or':
      return joinTests(
        filter.op,
        filter.operands.map((operand) => toTest(operand, lookUp, form)),
      );
    case 'not':
      return negate(toTest(filter.operand, lookUp, form));
    case 'pr':
      return someValue(filter.path, lookUp, { form, holds: presence(form) });
    case 'ne':
      return negate(toTest({ ...filter, op: 'eq' }, lookUp, form));
    default: {
      const { op, path, value } = filter;
      if (value !== null) return someValue(path, lookUp, { form, holds: comparison(op, value, form) });
      // `eq null` holds for unassigned attributes (RFC 7643 §2.5). Any other comparison with null is false.
      return op === 'eq' ? negate(toTest({ op: 'pr', path }, lookUp, form)) : joinTests('or', []);
    }
  }
}

function joinTests<Subject>(op: 'and' | 'or', tests: Test<Subject>[]): Test<Subject> {
  const isDecidedBy = op === 'or';
  return function* (subject, meter) {
    for (const test of tests) if ((yield* test(subject, meter)) === isDecidedBy) return isDecidedBy;
    return !isDecidedBy;
  };
}

function negate<Subject>(test: Test<Subject>): Test<Subject> {
  return function* (subject, meter) {
    return !(yield* test(subject, meter));
  };
}

/** Tells whether a condition holds for one value of an attribute, and counts its work. */
type Criterion = (value: Json, attribute: Attribute | undefined, meter: Meter) => boolean;

/** Makes the test whether a criterion holds for one of the values at a path. */
function someValue<Subject>(
  path: AttributePath,
  lookUp: Lookup<Subject>,
  { form, holds }: { form: TextForm; holds: Criterion },
): Test<Subject> {
  const valuesAt = lookUp(path);
  const isSelected = path.filter && toTest(path.filter, valuesInElement, form);
  return function* (subject, meter) {
    const { elements, attribute, sub } = valuesAt(subject);
    const compared = comparedAttribute(attribute, sub);
    for (const element of elements) {
      if (isPauseDue(meter, VISIT_WORK)) yield;
      if (isSelected && !(yield* isSelected({ element, attribute }, meter))) continue;
      if (readPart(element, sub).some((value) => holds(value, compared, meter))) return true;
    }
    return false;
  };
}

function comparison(
  op: Exclude<Comparison, 'ne'>,
  operand: Exclude<Operand, null>,
  form: TextForm,
): Criterion {
  const isPart = op === 'co' || op === 'sw' || op === 'ew';
  // A blank at the end of a part of a text is meant.
  const read = isPart && form === 'cleaned' ? cleanText : textReader(form);
  const comparand = toComparand(typeof operand === 'string' ? read(operand) : operand);
  const readValue = textReader(form);
  return (value, attribute, meter) => {
    const whole = comparable(value);
    const compared = typeof whole === 'string' ? readValue(whole) : whole;
    meter.work += comparisonCost({ op, comparand }, compared);
    return matchesComparison({ op, comparand, attribute }, compared);
  };
}

/** A path without a sub-attribute compares the `value` of a complex value (RFC 7644 §3.4.2.2, multi-valued attributes). */
function comparable(value: Json): Json | undefined {
  return isObject(value) ? ownValue(value, 'value') : value;
}

/**
 * Returns the attribute whose values are compared. For a complex attribute without a sub-attribute, this is its
 * sub-attribute `value`.
 */
export function comparedAttribute(
  attribute: Attribute | undefined,
  sub: string | undefined,
): Attribute | undefined {
  if (sub !== undefined) return findAttribute(attribute?.subAttributes, sub);
  return attribute?.type === 'complex' ? findAttribute(attribute.subAttributes, 'value') : attribute;
}

function textReader(form: TextForm): (text: string) => string {
  return form === 'cleaned' ? cleanValue : (text) => text;
}

/** "If the attribute has a non-empty or non-null value" (RFC 7644 §3.4.2.2, `pr`). */
function presence(form: TextForm): Criterion {
  const read = textReader(form);
  const isPresent = (value: Json): boolean => {
    if (typeof value === 'object' && value !== null) return Object.values(value).some(isPresent);
    return typeof value === 'string' ? read(value) !== '' : value !== null;
  };
  return isPresent;
}

/** The name of an undeclared extension is split into URN and attribute by the extensions that the resource has. */
function valuesInResource(type: ResourceType, written: AttributePath): (resource: JsonObject) => Values {
  const read = valuesOfReading(type, written);
  if (!written.readings) return read;
  return (resource) => valuesOfReading(type, chooseReading(written, extensionTest(resource)))(resource);
}

function valuesOfReading(type: ResourceType, path: AttributePath): (resource: JsonObject) => Values {
  const { urn, name, attribute } = resolveAttribute(type, path);
  const { sub } = path;
  return (resource) => {
    const container = urn === undefined ? resource : ownValue(resource, urn);
    if (name === undefined) return { elements: urn === undefined ? [] : toList(container), attribute, sub };
    const value = isObject(container) ? ownValue(container, name) : undefined;
    return { elements: toList(value), attribute, sub };
  };
}

/** An element of a multi-valued attribute. */
interface Element {
  element: Json;
  /** The multi-valued attribute; undefined if no schema defines it. */
  attribute: Attribute | undefined;
}

/** An element that is not an object is its own `value`. */
function valuesInElement({ attribute: name = '', sub }: AttributePath): (subject: Element) => Values {
  const isValue = name.toLowerCase() === 'value';
  return ({ element, attribute }) => {
    const part = isObject(element) ? ownValue(element, name) : isValue ? element : undefined;
    return { elements: toList(part), attribute: findAttribute(attribute?.subAttributes, name), sub };
  };
}

function readPart(value: Json, sub: string | undefined): Json[] {
  if (sub === undefined) return [value];
  const part = isObject(value) ? ownValue(value, sub) : undefined;
  return part === undefined || part === null ? [] : [part];
}

function toList(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
