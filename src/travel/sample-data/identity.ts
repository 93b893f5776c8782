/** What a company is called, which follows from the seed alone: two seeds never make the same. */
export interface Identity {
  name: string;
  /** Under `.example`, which nobody can register (RFC 2606 §2). */
  domain: string;
  /** The beginning of its codes, as they must not be another company's. */
  code: string;
}

const names = [
  ...['Bellerive', 'Corvanne', 'Solvane', 'Nordhaven', 'Lumerac', 'Ardentis', 'Quillmont', 'Verdalia'],
  ...['Tessaly', 'Orbelin', 'Marisco', 'Falkenried', 'Brightwell', 'Castagno', 'Delmare', 'Evenrude'],
];

/** The identity of the company of a seed. */
export function identityOf(seed: number): Identity {
  const round = Math.floor(seed / names.length);
  const name = `${names[seed % names.length]}${round === 0 ? '' : ` ${round + 1}`}`;
  const word = name.replace(' ', '');
  return { name, domain: `${word.toLowerCase()}.example`, code: word.toUpperCase() };
}
