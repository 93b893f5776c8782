import { Anchor } from '@mantine/core';
import { useRouter } from 'wouter';
import { helpAddress } from '../help.ts';

/** Leads to the document about the present view, in a tab of its own. */
export function HelpLink() {
  const { base } = useRouter();
  const address = helpAddress(base.replace(/^\/admin/, ''));
  if (address === undefined) return null;
  return (
    <Anchor href={address} target="_blank" size="sm">
      Help
    </Anchor>
  );
}
