/** Holds the first call back until all the rest is done. */
export function holdingFirst<Values extends unknown[], T>(real: (...values: Values) => Promise<T>) {
  let isFirst = true;
  let release = () => {};
  let arrive = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = async (...values: Values): Promise<T> => {
    if (isFirst) {
      isFirst = false;
      arrive();
      await released;
    }
    return real(...values);
  };
  return { held, reached, release: () => release() };
}
