import { Kbd, Table } from '@mantine/core';
import { views } from '../views.tsx';
import { Dialog } from './dialog.tsx';

/** Lists the keys. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const keys: [string[], string][] = [
    ...views.map(({ key, label }): [string[], string] => [['g', key], `Go to ${label}`]),
    [['/'], 'Search people'],
    [['?'], 'Show this list'],
  ];
  return (
    <Dialog onClose={onClose} title="Keys">
      <Table>
        <Table.Tbody>
          {keys.map(([pressed, text]) => (
            <Table.Tr key={text}>
              <Table.Td>
                {pressed.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{text}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}
