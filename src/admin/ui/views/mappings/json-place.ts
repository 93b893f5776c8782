import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

/** A part of a JSON path: the name of a member, or an index. */
export type Step = string | number;

/** A node of the syntax tree of a JSON text. */
export type JsonNode = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>;

/** The text of a syntax tree. */
type Source = Pick<EditorState, 'sliceDoc'>;

/** A range of the text. */
export interface Place {
  from: number;
  to: number;
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
export function findPlace(state: EditorState, path: string, isAboutName = false): Place {
  const tree = ensureSyntaxTree(state, state.doc.length, 200) ?? syntaxTree(state);
  let value: JsonNode | null = tree.topNode.firstChild;
  let property: JsonNode | null = null;
  for (const step of parsePath(path)) {
    const next: JsonNode | null = value && childOf(state, value, step);
    if (!next) break;
    property = next.name === 'Property' ? next : null;
    value = property ? property.lastChild : next;
  }
  const name = property?.getChild('PropertyName');
  if (name && (isAboutName || !value || hasSeveralLines(state, value))) return name;
  if (!value) return { from: 0, to: state.doc.lineAt(0).to };
  return { from: value.from, to: Math.min(value.to, state.doc.lineAt(value.from).to) };
}

function hasSeveralLines({ doc }: EditorState, { from, to }: Place): boolean {
  return doc.lineAt(from).number !== doc.lineAt(to).number;
}

/** Returns the element, or the member with its name, of a container; null if there is none. */
export function childOf(state: Source, container: JsonNode, step: Step): JsonNode | null {
  if (typeof step === 'number') return elementsOf(container)[step] ?? null;
  const found = container.getChildren('Property').filter((one) => nameOf(state, one) === step);
  return found.at(-1) ?? null;
}

const VALUES = ['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'];

/** The elements of an array. */
export function elementsOf(array: JsonNode): JsonNode[] {
  const elements: JsonNode[] = [];
  for (let child = array.firstChild; child; child = child.nextSibling)
    if (VALUES.includes(child.name)) elements.push(child);
  return elements;
}

function nameOf(state: Source, property: JsonNode): string | undefined {
  const name = property.getChild('PropertyName');
  return name ? unquoted(state.sliceDoc(name.from, name.to)) : undefined;
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replaceAll('"', '');
  }
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
}

/** Returns the place and the kind of a completion at this position. Undefined outside of objects and arrays. */
export function cursorAt(state: EditorState, position: number): Cursor | undefined {
  const node = syntaxTree(state).resolveInner(position, -1);
  const here = { from: position, to: position };
  if (node.name === 'PropertyName' && node.parent?.parent) {
    const object = node.parent.parent;
    return { kind: 'name', path: pathOf(state, object), place: node, siblings: namesOf(state, object) };
  }
  if (node.name === 'String' || node.name === 'Property')
    return {
      kind: 'value',
      path: pathOf(state, node),
      place: node.name === 'String' ? node : here,
      siblings: [],
    };
  const container = containerOf(node);
  if (container?.name === 'Object')
    return { kind: 'name', path: pathOf(state, container), place: here, siblings: namesOf(state, container) };
  if (container?.name === 'Array')
    return { kind: 'value', path: [...pathOf(state, container), 0], place: here, siblings: [] };
  return undefined;
}

function containerOf(node: JsonNode): JsonNode | undefined {
  for (let one: JsonNode | null = node; one; one = one.parent)
    if (one.name === 'Object' || one.name === 'Array') return one;
  return undefined;
}

function namesOf(state: EditorState, object: JsonNode): string[] {
  return object.getChildren('Property').flatMap((one) => nameOf(state, one) ?? []);
}

function pathOf(state: EditorState, node: JsonNode): Step[] {
  const steps: Step[] = [];
  for (let one = node; one.parent; one = one.parent) {
    if (one.name === 'Property') steps.unshift(nameOf(state, one) ?? '');
    if (one.parent.name === 'Array')
      steps.unshift(elementsOf(one.parent).findIndex(({ from }) => from === one.from));
  }
  return steps;
}
