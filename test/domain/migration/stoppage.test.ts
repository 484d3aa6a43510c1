import { withEndInTemporal, type Stoppage } from '../../../domain/migration/stoppage';

const PAUSE: Stoppage = {
  ...{ kind: 'pause', stop: 'key-refused', source: null },
  ...{ beganAt: '2026-11-26T10:00:00.000Z', endedAt: null },
};
const ended = { ...PAUSE, endedAt: '2026-11-26T10:30:00.000Z' };
const late = { ...PAUSE, beganAt: '2026-11-26T12:00:00.000Z' };

test('a stoppage that was not over when the workflow was terminated ended with it', () => {
  const at = '2026-11-26T11:00:00.000Z';
  expect(withEndInTemporal([PAUSE, ended, late], { status: 'terminated', at })).toEqual([
    { ...PAUSE, endedAt: at },
    ended,
    { ...late, endedAt: late.beganAt },
  ]);
});

test.each([null, { status: 'terminated', at: null } as const])('a stoppage continues if its end is unknown', (end) => {
  expect(withEndInTemporal([PAUSE], end)).toEqual([PAUSE]);
});
