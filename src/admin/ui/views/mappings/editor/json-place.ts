import type { EditorState } from '@codemirror/state';
import { findNodeAtLocation, getLocation, getNodeValue, type Node, parseTree } from 'jsonc-parser';

/** A part of a JSON path: the name of a member, or an index. */
export type Step = string | number;

/** A range of the text. */
export interface Place {
  from: number;
  to: number;
}

/** The end of a node in the text. */
export function endOf({ offset, length }: Pick<Node, 'offset' | 'length'>): number {
  return offset + length;
}

/** Splits a JSON path such as `scimUserMapping[2].transforms[0]` or `roles.map["Team lead"]`. `$` is the whole text. */
export function parsePath(path: string): Step[] {
  if (path === '$') return [];
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([\w$]+)/g)].map(([, quoted, index, name]) => {
    if (quoted !== undefined) return String(JSON.parse(`"${quoted}"`));
    return index === undefined ? (name ?? '') : Number(index);
  });
}

/**
 * Finds the place of a JSON path in the text: the value, or the name if the value has several lines. If the path ends at
 * something that is missing, returns the place of what contains it.
 */
export function findPlace({ doc }: EditorState, path: string, isAboutName = false): Place {
  let node = parseTree(doc.toString());
  if (!node) return { from: 0, to: doc.lineAt(0).to };
  for (const step of parsePath(path)) {
    const next = findNodeAtLocation(node, [step]);
    if (!next) break;
    node = next;
  }
  const name = node.parent?.type === 'property' ? node.parent.children?.[0] : undefined;
  const line = doc.lineAt(node.offset);
  if (name && (isAboutName || endOf(node) > line.to)) return { from: name.offset, to: endOf(name) };
  return { from: node.offset, to: Math.min(endOf(node), line.to) };
}

/** The part of the JSON text at a position, which a completion can extend or replace. */
export interface Cursor {
  /** `name`: a member's name can stand here; `value`: a value. */
  kind: 'name' | 'value';
  /** The path of the object of the name, or of the value. */
  path: Step[];
  /** The text that a completion replaces. */
  place: Place;
  /** The names that the object has already. */
  siblings: string[];
  /** The rule that contains the place, as far as it is written; undefined outside of rules. */
  rule: Record<string, unknown> | undefined;
}

/** Returns the place and the kind of a completion at this position. Undefined outside of objects and arrays. */
export function cursorAt({ doc }: EditorState, position: number): Cursor | undefined {
  const text = doc.toString();
  const { path, previousNode: word, isAtPropertyKey } = getLocation(text, position);
  if (path.length === 0 || (word && endOf(word) < position)) return undefined;
  const isText = word?.type === 'property' || word?.type === 'string';
  const place = isText ? { from: word.offset, to: endOf(word) } : { from: position, to: position };
  // Behind an empty object in a list, the location is that of a name too.
  const root = parseTree(text);
  const rule = ruleAt(root, path);
  if (!isAtPropertyKey || typeof path.at(-1) === 'number')
    return { kind: 'value', path, place, siblings: [], rule };
  const object = path.slice(0, -1);
  const members = (root && findNodeAtLocation(root, object)?.children) ?? [];
  const siblings = members.map(({ children: [name] = [] }) => String(name?.value));
  return { kind: 'name', path: object, place, siblings, rule };
}

function ruleAt(root: Node | undefined, [list, index]: Step[]): Cursor['rule'] {
  if (!root || list !== 'scimUserMapping' || typeof index !== 'number') return undefined;
  const node = findNodeAtLocation(root, [list, index]);
  return node?.type === 'object' ? Object(getNodeValue(node)) : undefined;
}
