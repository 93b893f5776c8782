import { jsonLanguage } from '@codemirror/lang-json';
import { childOf, elementsOf, type JsonNode, type Step } from './json-place.ts';

/**
 * Sets the value at a path of a JSON text, adds it as a member or as the next element, or removes it if the value is undefined.
 * Everything else keeps its layout. A path without a container, and a text that is not JSON, change nothing.
 */
export function setValue(text: string, path: Step[], value: unknown): string {
  const found = findNode(text, path);
  if (value === undefined) return found ? removeNode(text, found) : text;
  if (found) {
    const old = valueNode(found);
    return spliced(text, old, layOut(value, { like: textOf(text, old), indent: indentAt(text, old.from) }));
  }
  const container = findNode(text, path.slice(0, -1));
  const last = path.at(-1);
  return container && last !== undefined ? addValue(text, valueNode(container), { path, value }) : text;
}

/** Replaces a member of an object by one with another name, at the same place. Without the old member the new one is added. */
export function replaceMember(
  text: string,
  path: Step[],
  { from, to, value }: { from: string; to: string; value: unknown },
): string {
  const property = findNode(text, [...path, from]);
  const name = property?.getChild('PropertyName');
  if (!property || !name || findNode(text, [...path, to])) return setValue(text, [...path, to], value);
  const renamed = spliced(text, name, JSON.stringify(to));
  return setValue(renamed, [...path, to], value);
}

/** Exchanges two elements of the array at a path. What stands between them stays. */
export function swapElements(text: string, path: Step[], [one, other]: [number, number]): string {
  const [first, second] = [Math.min(one, other), Math.max(one, other)].map((index) =>
    findNode(text, [...path, index]),
  );
  if (!first || !second || first === second) return text;
  return spliced(spliced(text, second, textOf(text, first)), first, textOf(text, second));
}

/** A range of the text. */
interface Range {
  from: number;
  to: number;
}

function spliced(text: string, { from, to }: Range, insertion: string): string {
  return text.slice(0, from) + insertion + text.slice(to);
}

function textOf(text: string, { from, to }: Range): string {
  return text.slice(from, to);
}

/** Finds the element, or the member with its name, at a path. */
function findNode(text: string, path: Step[]): JsonNode | undefined {
  let node = jsonLanguage.parser.parse(text).topNode.firstChild ?? undefined;
  const source = { sliceDoc: (from: number, to: number) => text.slice(from, to) };
  for (const step of path) {
    if (!node) return undefined;
    node = childOf(source, valueNode(node), step) ?? undefined;
  }
  return node;
}

/** The value of a member; an element is its own value. */
function valueNode(node: JsonNode): JsonNode {
  return (node.name === 'Property' && node.lastChild) || node;
}

function itemsOf(container: JsonNode): JsonNode[] {
  return container.name === 'Array' ? elementsOf(container) : container.getChildren('Property');
}

/** Removes an element or a member with one comma beside it, and the lines that it leaves empty. */
function removeNode(text: string, node: JsonNode): string {
  const { parent } = node;
  if (!parent) return text;
  const items = itemsOf(parent);
  const index = items.findIndex(({ from }) => from === node.from);
  const [before, after] = [items[index - 1], items[index + 1]];
  if (after) return spliced(text, { from: node.from, to: after.from }, '');
  if (before) return spliced(text, { from: before.to, to: node.to }, '');
  return spliced(text, { from: parent.from + 1, to: parent.to - 1 }, '');
}

/** Adds an item after the last one, on a line of its own if the last one has one. */
function addValue(
  text: string,
  container: JsonNode,
  { path, value }: { path: Step[]; value: unknown },
): string {
  const step = path.at(-1);
  if (container.name !== (typeof step === 'number' ? 'Array' : 'Object')) return text;
  const name = typeof step === 'string' ? `${JSON.stringify(step)}: ` : '';
  const items = itemsOf(container);
  const last = items.at(-1);
  if (!last) {
    const item = name + oneLine(value);
    // The first item of the mapping or of its list of rules gets a line of its own, that of a rule does not.
    const gaps = path.length <= 2 ? lineGaps(indentAt(text, container.from)) : undefined;
    return spliced(text, { from: container.from + 1, to: container.to - 1 }, wrapped(item, container, gaps));
  }
  const indent = indentAt(text, last.from);
  const before = items.at(-2) ?? container.firstChild;
  const gap = text.slice(before?.to, last.from).includes('\n') ? `,\n${indent}` : ', ';
  const like = typeof step === 'number' ? textOf(text, last) : '';
  return spliced(text, { from: last.to, to: last.to }, gap + name + layOut(value, { like, indent }));
}

function lineGaps(indent: string): [string, string] {
  return [`\n${indent}  `, `\n${indent}`];
}

function wrapped(item: string, { name }: JsonNode, gaps: [string, string] | undefined): string {
  const [before, after] = gaps ?? (name === 'Array' ? ['', ''] : [' ', ' ']);
  return before + item + after;
}

/** The spaces at the beginning of the line of a position. */
function indentAt(text: string, position: number): string {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, position))?.[0] ?? '';
}

/** Writes a value on several lines if the text beside it, or in its place, has several. */
function layOut(value: unknown, { like, indent }: { like: string; indent: string }): string {
  if (!like.includes('\n')) return oneLine(value);
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
}

/** Writes a value in one line with spaces, e.g. `{ "prefix": "x" }`. */
function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
