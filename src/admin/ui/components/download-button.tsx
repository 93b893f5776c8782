import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { type DownloadOperation, downloadUrl, type Input } from '../api.ts';

/** A link that looks like a button and downloads a file of CSV. */
export function DownloadButton<Name extends DownloadOperation>({
  operation,
  input,
}: {
  operation: Name;
  /** The filters of what is shown. */
  input: Input<Name>;
}) {
  return (
    <Button
      component="a"
      href={downloadUrl(operation, input)}
      download
      size="xs"
      variant="default"
      leftSection={<IconDownload size={14} />}
    >
      Download CSV
    </Button>
  );
}
