import { useMediaQuery } from '@mantine/hooks';

const NARROW = '(max-width: 48em)';

/** True below the width at which the navigation becomes a bar and tables become cards. */
export function useIsNarrow(): boolean {
  return useMediaQuery(NARROW, window.matchMedia(NARROW).matches) ?? false;
}
