import { Kbd, Modal, Table } from '@mantine/core';
import { views } from '../views.tsx';

/** Lists the keys. */
export function KeyHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const keys: [string[], string][] = [
    ...views.map(({ key, label }): [string[], string] => [['g', key], `Go to ${label}`]),
    [['/'], 'Search people'],
    [['?'], 'Show this list'],
  ];
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys">
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
    </Modal>
  );
}
