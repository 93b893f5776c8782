import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import { endOf, type Step } from './json-place.ts';

/**
 * Sets the value at a path of a JSON text, adds it as a member or as the next element, or removes it if the value is undefined.
 * Everything else keeps its layout, which `modify` of jsonc-parser would format. A path without a container, and a text that is not
 * JSON, change nothing.
 */
export function setValue(text: string, path: Step[], value: unknown): string {
  const found = findNode(text, path);
  if (value === undefined) return found ? removeItem(text, itemOf(found)) : text;
  if (found)
    return replaced(
      text,
      found,
      layOut(value, { like: textOf(text, found), indent: indentAt(text, found.offset) }),
    );
  const container = findNode(text, path.slice(0, -1));
  return container ? addItem(text, container, { path, value }) : text;
}

/** Replaces a member of an object by one with another name, at the same place. Without the old member the new one is added. */
export function replaceMember(
  text: string,
  path: Step[],
  { from, to, value }: { from: string; to: string; value: unknown },
): string {
  const name = findNode(text, [...path, from])?.parent?.children?.[0];
  const isRenamed = name && !findNode(text, [...path, to]);
  return setValue(isRenamed ? replaced(text, name, JSON.stringify(to)) : text, [...path, to], value);
}

/** Exchanges two elements of the array at a path. What stands between them stays. */
export function swapElements(text: string, path: Step[], [one, other]: [number, number]): string {
  const [first, second] = [Math.min(one, other), Math.max(one, other)].map((index) =>
    findNode(text, [...path, index]),
  );
  if (!first || !second || first === second) return text;
  return replaced(replaced(text, second, textOf(text, first)), first, textOf(text, second));
}

function findNode(text: string, path: Step[]): Node | undefined {
  const root = parseTree(text);
  return root && findNodeAtLocation(root, path);
}

function textOf(text: string, node: Node): string {
  return text.slice(node.offset, endOf(node));
}

function replaced(text: string, node: Node, insertion: string): string {
  return spliced(text, [node.offset, endOf(node)], insertion);
}

function spliced(text: string, [from, to]: [number, number], insertion: string): string {
  return text.slice(0, from) + insertion + text.slice(to);
}

/** The element of an array, or the member of an object, that has a value. */
function itemOf(value: Node): Node {
  return value.parent?.type === 'property' ? value.parent : value;
}

/** Removes an element or a member with one comma beside it, and the lines that it leaves empty. */
function removeItem(text: string, item: Node): string {
  const { parent: container } = item;
  if (!container?.children) return text;
  const index = container.children.indexOf(item);
  const [before, after] = [container.children[index - 1], container.children[index + 1]];
  if (after) return spliced(text, [item.offset, after.offset], '');
  if (before) return spliced(text, [endOf(before), endOf(item)], '');
  return spliced(text, [container.offset + 1, endOf(container) - 1], '');
}

/** Adds an item after the last one, on a line of its own if the last one has one. */
function addItem(text: string, container: Node, { path, value }: { path: Step[]; value: unknown }): string {
  const step = path.at(-1);
  if (container.type !== (typeof step === 'number' ? 'array' : 'object')) return text;
  const name = typeof step === 'string' ? `${JSON.stringify(step)}: ` : '';
  const last = container.children?.at(-1);
  if (!last) {
    // The first item of the mapping or of its list of rules gets a line of its own, that of a rule does not.
    const gaps = path.length <= 2 ? lineGaps(indentAt(text, container.offset)) : inlineGaps(container);
    const item = gaps.join(name + oneLine(value));
    return spliced(text, [container.offset + 1, endOf(container) - 1], item);
  }
  const indent = indentAt(text, last.offset);
  const before = container.children?.at(-2);
  const space = text.slice(before ? endOf(before) : container.offset, last.offset);
  const gap = space.includes('\n') ? `,\n${indent}` : ', ';
  const like = typeof step === 'number' ? textOf(text, last) : '';
  const item = gap + name + layOut(value, { like, indent });
  return spliced(text, [endOf(last), endOf(last)], item);
}

/** The white space before and after the only item of a container. */
function lineGaps(indent: string): [string, string] {
  return [`\n${indent}  `, `\n${indent}`];
}

function inlineGaps({ type }: Node): [string, string] {
  return type === 'array' ? ['', ''] : [' ', ' '];
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
