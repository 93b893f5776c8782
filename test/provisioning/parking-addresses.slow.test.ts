import { addressOf, emailsOf, person, withFixture } from '../fixtures/provisioning.ts';

test('thirty pairs that exchange their addresses at once all get them', () =>
  withFixture(async (fixture) => {
    const names = Array.from({ length: 60 }, (_, index) => `P${index}`);
    const wanted = names.map((_, index) => addressOf(names[index ^ 1] ?? ''));
    const ids: string[] = [];
    for (const name of names) {
      // The userName is no address, so that only a parking address can be used during a swap.
      const { id } = await fixture.bridge.users.create(
        'default',
        person(name, { userName: name.toLowerCase() }),
      );
      ids.push(id);
    }
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: '503' });
    await Promise.all(ids.map((id, index) => fixture.patch(id, emailsOf(wanted[index] ?? ''))));
    fixture.travel.faultFor = () => undefined;
    for (let round = 0; round < 6; round += 1) await fixture.reconcileAfter(round < 3 ? 1_000 : 60_000);
    const ends = await Promise.all(ids.map(async (id) => (await fixture.traveler(id))?.email));
    expect(ends).toEqual(wanted);
    const findings = await Promise.all(ids.map((id) => fixture.findings(id)));
    expect(findings.flat()).toEqual([]);
  }));
