import { Anchor, type AnchorProps, Badge, Box, Code, Text, Title, Tooltip } from '@mantine/core';
import { type CSSProperties, Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { type Mark, prettyBody, timeText } from './texts.ts';

/** A muted part of a line. */
export function Dim(props: { size?: 'xs'; style?: CSSProperties; children: ReactNode }) {
  return <Text span c="dimmed" {...props} />;
}

/** A path, an id or a part of a mapping, which breaks at its signs, and anywhere if it has none. */
export function PathCode({ text }: { text: string }) {
  return (
    <Code style={{ overflowWrap: 'anywhere' }}>
      <Breakable text={text} />
    </Code>
  );
}

/** A part of a view with a heading. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h5" mb={6}>
        {title}
      </Title>
      {children}
    </section>
  );
}

/** A body as the log has it, under its heading. `children` stand between both; `none` is shown without a body. */
export function LoggedBody({
  title,
  body,
  none = 'No body, or it was not kept.',
  children,
}: {
  title: string;
  body: { text: string; isCut: boolean } | undefined;
  none?: string;
  children?: ReactNode;
}) {
  return (
    <Box component="section" aria-label={title} miw={0}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
      {body && (
        <Code block tabIndex={0} aria-label={`Body: ${title}`} mah={480} style={{ overflow: 'auto' }}>
          {prettyBody(body)}
        </Code>
      )}
      <Dim>{body ? body.isCut && 'The body is longer; the log keeps its beginning.' : none}</Dim>
    </Box>
  );
}

/** A value under its label. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="div">{children}</Text>
    </div>
  );
}

/**
 * A link to a place of the page. `href` is within the view; after `~/admin` it is that of another one. In a line of text the link is
 * underlined, because colour alone does not tell it.
 */
export function ViewLink({
  isInText = false,
  ...link
}: Omit<AnchorProps, 'component'> & {
  href: string;
  title?: string;
  tabIndex?: number;
  isInText?: boolean;
  children: ReactNode;
}) {
  return <Anchor component={Link} {...(isInText && { underline: 'always' })} {...link} />;
}

/** The address of a person in the view People. */
export function personHref(connection: string, id: string): string {
  return `~/admin/people/${encodeURIComponent(connection)}/${encodeURIComponent(id)}`;
}

/** The name of a person as a link to the view of the person, with the userName below it. */
export function PersonName({
  connection,
  id,
  name,
  userName,
}: {
  connection: string;
  id: string;
  name: string;
  userName: string;
}) {
  return (
    <div style={{ minWidth: 0 }}>
      <ViewLink href={personHref(connection, id)} fw={500}>
        <bdi>
          <Breakable text={name || userName || id} />
        </bdi>
      </ViewLink>
      {name && (
        <Text size="xs" c="dimmed">
          <Breakable text={userName} />
        </Text>
      )}
    </div>
  );
}

/** The places of a text without spaces at which a line may break: after a sign, and before a capital letter inside of a name. */
const BREAKS = /(?<=[@./:_?&=,;|%+-])(?=[^@./:_?&=,;|%+-])|(?<=[a-z])(?=[A-Z])/;

/** A text with addresses, paths or names of fields, which break at their signs and not inside of a word. */
export function Breakable({ text }: { text: string }) {
  return text.split(BREAKS).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** A state with its symbol, so that colour alone tells nothing. A state in which all is well is plain text. */
export function StateBadge({ mark }: { mark: Mark }) {
  if (mark.color === undefined) return <Dim style={{ flexShrink: 0 }}>{mark.label}</Dim>;
  return (
    <Badge
      color={mark.color}
      variant="light"
      // The colour of the variant has too little contrast in light mode.
      c="var(--mantine-color-text)"
      tt="none"
      fw={500}
      style={{ flexShrink: 0 }}
    >
      <Text span inherit aria-hidden>
        {mark.symbol}
      </Text>{' '}
      {mark.label}
    </Badge>
  );
}

interface TimeProps {
  at: string | undefined;
  /** Returns the text of a moment, both in epoch milliseconds. */
  format?: (at: number, now: number) => string;
  none?: string;
}

/**
 * A moment: relative below a day, else in local time, unless `format` is another one, such as `sinceText` after "since"; the exact UTC
 * moment appears on hover. `none` stands for a moment that there is not.
 */
export function Time({ at, format = timeText, none = '–' }: TimeProps) {
  if (at === undefined) return none;
  return (
    <Tooltip
      label={`${at.replace('T', ' ').replace('Z', '')} UTC`}
      events={{ hover: true, focus: false, touch: true }}
    >
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {format(new Date(at).getTime(), Date.now())}
      </time>
    </Tooltip>
  );
}
