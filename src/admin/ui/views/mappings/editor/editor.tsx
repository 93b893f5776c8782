import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, type EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { completeMapping, type FindGroups, type MappingNames } from './completion.ts';
import type { MarkedFault } from './draft.ts';
import { findPlace, type Place } from './json-place.ts';

interface MappingEditorProps {
  text: string;
  faults: MarkedFault[];
  names: MappingNames | undefined;
  findGroups: FindGroups;
  onChange: (text: string) => void;
}

/** The text of a mapping, with completion and with its faults underlined. */
export function MappingEditor({ text, faults, names, findGroups, onChange }: MappingEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ names, findGroups, onChange });
  latest.current = { names, findGroups, onChange };
  const isDark = useComputedColorScheme('light') === 'dark';
  // The text that is set first; later ones are set by the effect below.
  const first = useRef(text);
  useEffect(() => {
    if (!parent.current) return;
    const created = new EditorView({
      parent: parent.current,
      doc: first.current,
      extensions: extensionsOf(latest),
    });
    view.current = created;
    return () => created.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === text) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: text },
      userEvent: 'outside',
    });
  }, [text]);
  useEffect(() => {
    view.current?.dispatch({ effects: looks.reconfigure(EditorView.theme(styles, { dark: isDark })) });
  }, [isDark]);
  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnosticsOf(editor.state, faults)));
  }, [faults]);
  return <div ref={parent} className="mapping-editor" />;
}

const looks = new Compartment();

const styles = {
  '&': { fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', maxHeight: '65vh' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--mantine-color-dimmed)' },
};

/** Set by the server; the style elements of the editor need it (Content-Security-Policy). */
function readNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

function extensionsOf(latest: {
  current: {
    names: MappingNames | undefined;
    findGroups: FindGroups;
    onChange: (text: string) => void;
  };
}) {
  return [
    EditorView.cspNonce.of(readNonce()),
    [
      lineNumbers(),
      foldGutter(),
      lintGutter(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
    ],
    json(),
    // page.css has the colours of the classes.
    syntaxHighlighting(classHighlighter),
    autocompletion({
      override: [
        completeMapping(
          () => latest.current.names,
          (beginning) => latest.current.findGroups(beginning),
        ),
      ],
    }),
    // Tab is not bound, so that the keyboard can leave the editor.
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': 'Mapping as JSON' }),
    EditorView.lineWrapping,
    looks.of([]),
    EditorView.updateListener.of(({ docChanged, transactions, state }) => {
      const isTyped = transactions.some((one) => one.docChanged && !one.isUserEvent('outside'));
      if (docChanged && isTyped) latest.current.onChange(state.doc.toString());
    }),
  ];
}

function diagnosticsOf(state: EditorState, faults: MarkedFault[]): Diagnostic[] {
  const marked = faults.map(({ path, problem, remedy, severity }) => ({
    ...(syntaxPlace(state, problem) ?? findPlace(state, path, problem === 'unknown key')),
    ...{ severity, message: `${path}: ${problem}. ${remedy}` },
  }));
  return marked.map(({ from, to, ...one }) => ({ from, to: Math.max(from, to), ...one }));
}

/** The place of a fault of the JSON syntax, whose message has line and column. */
function syntaxPlace({ doc }: EditorState, problem: string): Place | undefined {
  const [, line, column] = /line (\d+), column (\d+)/.exec(problem) ?? [];
  if (line === undefined || Number(line) > doc.lines) return undefined;
  const at = doc.line(Number(line));
  const from = Math.min(at.from + Number(column) - 1, at.to);
  return { from, to: Math.min(from + 1, doc.length) };
}
