/** Tests the sections and rows of companies in the handover report. */
import { companyRecord, sectionsOf, type ReportedCompany } from '../../../presentation/handover/company-sections';
import { sectionHead } from '../../../presentation/handover/markdown-report';
import { COMPANY_STATES, type CompanyState } from '../../../domain/companies/company-state';
import { COMPANY, NOW, NONE_REPLACED, OLD, REPLACED, rowsOf } from './reported-company';

describe('a company in the report', () => {
  test('shows its invoices when it has moved, because other records are counted only for the first company', () => {
    const counted = (dataType: string, found: number) => ({
      ...({ code: 'complete', label: `${dataType} complete`, passed: true, detail: `${found} found` } as const),
      records: { dataType, expected: null, found },
    });
    const evidence = [counted('invoices', 13), counted('customers', 32)];
    expect(rowsOf({ ...COMPANY, evidence }, true)['Moved']).toContain('| 13 |');
  });

  test('says in the CSV file what to do if it was left out after its access was handed over', () => {
    const leftOut = { ...COMPANY, state: 'skipped', failure: 'incomplete', movedAt: null } as const;
    expect(companyRecord(leftOut, { stage: 'ended', route: 'managed', now: NOW })['what to do']).toBe(
      'ask support whether its connection is still in use',
    );
    expect(
      companyRecord({ ...leftOut, crossedAt: null }, { stage: 'ended', route: 'managed', now: NOW })['what to do'],
    ).toBe('');
  });

  test.each(['skipped', 'excluded'] as const)(
    'has a link in the CSV file after it was left out only if its application was replaced: %s',
    (state) => {
      const revoked = { ...COMPANY, state, failure: 'reauthorization-required', movedAt: null } as const;
      const linkOf = (company: ReportedCompany) =>
        companyRecord(company, { route: 'managed', stage: 'open', now: NOW })['link for the end customer'];
      expect(linkOf(revoked)).toBe('');
      const replaced = { ...revoked, replacedApplication: true };
      expect(linkOf(replaced)).toBe('https://link.example/1');
      expect(rowsOf(replaced, false)['Connected with an application that was replaced']).toContain(linkOf(replaced));
      expect(linkOf({ ...revoked, state: 'failed' })).toBe('https://link.example/1');
    },
  );

  test('cannot contain markup in its name', () => {
    expect(rowsOf({ ...COMPANY, name: '[Go](http://e.io)' }, true)['Moved']).not.toContain('[Go]');
  });

  test('is one short row without ids if it was moved, with special characters of its name escaped', () => {
    expect(rowsOf(COMPANY, true)).toEqual({
      Moved: '| C-1 | Bramble \\| Finch Interiors | 3 | 20 Nov 22:03 | 24 h | 21 Nov 22:03 |',
    });
  });

  test.each([
    [null, '|  |  |'],
    [{ everyHours: null, nextAt: null }, '| only on request |  |'],
    [{ everyHours: { least: 1, most: 24 }, nextAt: null }, '| 1 to 24 h |  |'],
  ])('shows the sync schedule %j as %s', (syncSchedule, text) => {
    expect(rowsOf({ ...COMPANY, syncSchedule }, true)['Moved']).toContain(text);
  });

  test('shows its next sync only if the service can sync it and the sync is not over', () => {
    const later = (company: ReportedCompany, now = NOW) =>
      companyRecord(company, { stage: 'ended', route: 'managed', now })['next sync'];
    expect(later(COMPANY)).toBe('2026-11-21 22:03 UTC');
    expect(later(COMPANY, '2026-11-22T09:00:00.000Z')).toBe('');
    for (const state of COMPANY_STATES.filter((each) => each !== 'moved'))
      expect([state, later({ ...COMPANY, state })]).toEqual([state, '']);
    expect(later({ ...COMPANY, syncSchedule: { everyHours: null, nextAt: null } })).toBe('');
    const replaced = { ...COMPANY, replacedApplication: true };
    expect(later(replaced)).toBe('none: its application was replaced');
    expect(companyRecord(replaced, { stage: 'ended', route: 'managed', now: NOW })['synced every']).toBe('');
    expect(rowsOf(replaced, true)['Moved']).toContain('|  | none: its application was replaced |');
  });

  test('is also listed with its link if its application was replaced after its move', () => {
    const company = { ...COMPANY, replacedApplication: true };
    expect(rowsOf(company, true)).toMatchObject({
      'Connected with an application that was replaced':
        '| C-1 | Bramble \\| Finch Interiors | https://link.example/1 | moved |',
      Moved: expect.stringContaining('C-1') as unknown,
    });
    expect(companyRecord(company, { stage: 'ended', route: 'managed', now: NOW })).toMatchObject({
      outcome: 'moved',
      why: expect.stringContaining('was replaced') as unknown,
      'what to do': expect.stringContaining('reconnect with the link') as unknown,
      'link for the end customer': 'https://link.example/1',
    });
    expect(companyRecord(COMPANY, { stage: 'ended', route: 'managed', now: NOW })).toMatchObject({
      why: '',
      'link for the end customer': '',
    });
  });

  const failed: ReportedCompany = { ...COMPANY, state: 'failed', failureText: 'why', movedAt: null };

  test('is shown with its link if it must reconnect', () => {
    const rows = rowsOf({ ...failed, failure: 'reauthorization-required', crossedAt: null }, true);
    expect(rows).toEqual({
      'Must reconnect': '| C-1 | Bramble \\| Finch Interiors | https://link.example/1 | why | until it reconnects |',
    });
  });

  test('is also listed under the replaced application if it must reconnect or waits to be moved again', () => {
    const title = 'Connected with an application that was replaced';
    const depends = { ...failed, replacedApplication: true };
    expect(rowsOf({ ...depends, failure: 'reauthorization-required' }, true)).toMatchObject({
      'Must reconnect': expect.stringContaining('C-1') as unknown,
      [title]: '| C-1 | Bramble \\| Finch Interiors | https://link.example/1 | must reconnect |',
    });
    expect(rowsOf({ ...depends, state: 'waiting' }, false)[title]).toContain('https://link.example/1');
  });

  test.each([
    ['incomplete', false, 'nothing now; support decides whether to try it again'],
    ['incomplete', true, 'nothing; the connection is in place, and support takes care of its sync'],
    ['wrong-organization', false, 'export a new credential, and supply it as a replacement'],
    ['wrong-organization', true, 'send its end customer the link again, to connect the right organization'],
    ['refused', false, 'support decides whether to try it again'],
  ] as const)('that failed with %s (migration ended: %s) is shown with what to do: %s', (failure, ended, whatToDo) => {
    const row = rowsOf({ ...failed, failure }, ended)['Not moved, and what to do'];
    expect(row).toContain('| why |');
    expect(row).toContain(whatToDo);
    expect(row).not.toContain('latest');
  });

  test.each(['incomplete', 'sync-failed', 'sync-timed-out'] as const)(
    'that failed with %s and depends on a replaced application has only the advice about that application',
    (failure) => {
      const depends = { ...failed, failure, replacedApplication: true };
      for (const stage of ['open', 'terminated', 'ended'] as const) {
        expect(rowsOf(depends, stage)['Not moved, and what to do']).toContain('3 found |  |  | never |');
        for (const route of ['managed', 'self-service'] as const)
          expect(companyRecord(depends, { stage, route, now: NOW }, 'ask support')['what to do']).toBe('ask support');
      }
    },
  );

  test('that was left out is shown with the person who decided it and the reason', () => {
    const leftOut = { leftOutBy: 'Sam', leftOutReason: 'sold', crossedAt: null, companyId: null };
    expect(rowsOf({ ...COMPANY, ...leftOut, state: 'excluded', tries: 0 }, false)).toEqual({
      'Left out': '| C-1 | Bramble \\| Finch Interiors | before any attempt to move it | Sam | sold |  | yes |',
    });
    expect(rowsOf({ ...COMPANY, ...leftOut, state: 'excluded', tries: 1 }, false)['Left out']).toContain(
      '| after an attempt to move it | Sam |',
    );
    expect(rowsOf({ ...failed, ...leftOut, state: 'skipped' }, false)['Left out']).toContain(
      '| after an attempt to move it | Sam | sold | why | yes |',
    );
  });

  test.each<[CompanyState, boolean, boolean, string]>([
    ['syncing', true, false, 'never'],
    ['failed', true, true, 'never'],
    ['skipped', true, true, 'never: its access was handed over to the service; ask support whether its connection is'],
    ['waiting', true, true, 'never'],
    ['importing', false, false, 'ask first'],
    ['outcome-unknown', false, true, 'ask first'],
    ['failed', false, false, 'not yet'],
    ['failed', false, true, 'yes'],
    ['waiting', false, false, 'not yet'],
    ['waiting', false, true, 'yes'],
    ['skipped', false, false, 'yes'],
    ['excluded', false, false, 'yes'],
  ])(
    'that is %s (handed over: %s, migration ended: %s) may be switched back on: %s',
    (state, crossed, ended, answer) => {
      const crossedAt = crossed ? COMPANY.crossedAt : null;
      const [row] = Object.values(rowsOf({ ...COMPANY, state, crossedAt }, ended));
      expect(row).toMatch(new RegExp(`\\| ${answer}(?: still in use)? \\|`));
    },
  );

  test.each([
    ['importing', null, 'interrupted', 'ask first'],
    ['syncing', COMPANY.crossedAt, 'interrupted', 'never'],
    ['waiting', null, 'not moved', 'ask first'],
  ] as const)(
    'that was %s when its workflow was terminated (handed over: %s) is shown as %s until the migration is closed',
    (state, crossedAt, word, switchOn) => {
      const company = { ...COMPANY, state, crossedAt };
      const row = rowsOf(company, 'terminated')['Not moved when the migration was stopped'];
      expect(row).toContain(`| ${word}`);
      expect(row).toContain(`| ask support what happens next | ${switchOn} |`);
      expect(companyRecord(company, { stage: 'terminated', route: 'managed', now: NOW })).toMatchObject({
        ...{ outcome: word, 'what to do': 'ask support what happens next', 'switch back on': switchOn },
      });
    },
  );

  test.each<[Partial<ReportedCompany>, string, string]>([
    [{ tries: 0 }, 'not moved yet', 'nothing; its turn is still to come'],
    [{ tries: 1 }, 'not moved yet', 'nothing; it will be tried again'],
    [{ tries: 0, confirmedAt: null }, 'not moved yet', 'once you are asked, confirm that its syncing is off'],
    [{ tries: 0, heldBack: 'no organization' }, 'not moved yet: no organization', 'correct its row in the manifest'],
    [
      { tries: 0, heldBack: 'not checked yet' },
      'not moved yet: not checked yet',
      'nothing yet; it is still being checked',
    ],
    [{ tries: 2, deferred: true, failureText: 'busy' }, 'not moved yet: busy', 'nothing; it will be tried again'],
    [{ state: 'syncing', tries: 1 }, 'moving', 'nothing; it is being moved'],
    [{ state: 'outcome-unknown' }, 'not moved yet', 'nothing now; support decides whether to try it again'],
  ])('that is not finished (%j) is %s, with what the client has to do: %s', (changes, state, whatToDo) => {
    const ready = { state: 'waiting', credential: 'supplied', confirmedAt: new Date(NOW), crossedAt: null } as const;
    const waiting = { ...COMPANY, ...ready, ...changes };
    expect(rowsOf(waiting, 'open')['Not finished']).toContain(`| ${state} | ${whatToDo}`);
  });

  test.each(['managed', 'self-service'] as const)(
    'that is held back has first the advice to correct its row, because leaving it out is final (%s)',
    (route) => {
      const heldBack = { state: 'waiting', tries: 0, heldBack: 'no organization', credential: null } as const;
      const company = { ...COMPANY, ...heldBack, confirmedAt: null, crossedAt: null };
      const advice = 'correct its row in the manifest, or send the correct row to support; otherwise, leave it out';
      expect(companyRecord(company, { stage: 'open', route, now: NOW })['what to do']).toBe(advice);
    },
  );

  test.each([
    ['ended', 0, 'not moved: the migration ended before the company was moved'],
    ['ended', 1, 'not moved: the migration ended before the company was tried again'],
    ['terminated', 0, 'not moved: the migration was stopped before the company was moved'],
  ] as const)(
    'that still waited when the migration was %s (tries: %d) says why it was not moved',
    (stage, tries, why) => {
      const waiting = { ...COMPANY, state: 'waiting', credential: null, crossedAt: null, tries } as const;
      expect(Object.values(rowsOf(waiting, stage))[0]).toContain(`| ${why} |`);
      expect(companyRecord(waiting, { stage, route: 'managed', now: NOW }).why).toBe(why.replace('not moved: ', ''));
    },
  );

  test.each<[Partial<ReportedCompany>, string, string]>([
    [{}, 'yes', 'move the company in a new migration'],
    [{ sentAt: new Date(NOW) }, 'ask first', 'ask support, because its credential may have been sent to us, but '],
    [{ crossedAt: new Date(NOW) }, 'never', 'ask support, because access was handed over to us, but the move was'],
  ])('that still waited at the end (%j) has the same answer about switching back on (%s) as advice: %s', (...given) => {
    const [changes, switchOn, advice] = given;
    const waiting = { ...COMPANY, state: 'waiting', credential: null, crossedAt: null, ...changes } as const;
    const record = companyRecord(waiting, { stage: 'ended', route: 'managed', now: NOW });
    expect(record['what to do']).toContain(advice);
    expect(record['switch back on']).toBe(switchOn);
  });

  test('that is still being checked after the end has the same word in the sections and in the spreadsheet', () => {
    const company = { ...COMPANY, state: 'syncing' } as const;
    expect(rowsOf(company, 'ended')['Not moved when the migration ended']).toContain('| still being checked');
    expect(companyRecord(company, { stage: 'ended', route: 'managed', now: NOW }).outcome).toBe('still being checked');
  });

  test('that was moved is in a section that says once that it may never be switched back on', () => {
    const moved = sectionsOf('ended', NONE_REPLACED).find(({ title }) => title === 'Moved');
    const never = 'Never switch the syncing of these companies back on in your own application.';
    expect(moved && sectionHead(moved)).toContain(never);
  });

  test('that depend on a replaced application get the same advice in the section and under what to do', () => {
    const current = { application: { clientId: 'new-app', environment: 'production' }, companies: 3, references: [] };
    const noteWith = (applications: Parameters<typeof sectionsOf>[1]) =>
      sectionsOf('ended', applications).find(({ id }) => id === 'replaced-application')?.note;
    expect(noteWith(REPLACED)).toBe(
      "The service can no longer refresh the tokens of this company. Keep your application old-app (production), and ask support to register it again, or let the company's end customer reconnect with the link instead.",
    );
    const kept = noteWith({ moved: [OLD, current], replaced: [OLD], registered: current.application });
    const reconnect =
      "Let the company's end customer reconnect with the link, and keep new-app (production) registered";
    expect(kept).toContain(reconnect);
    expect(kept).not.toMatch(/register(s|ed)? .*again/);
  });

  test.each(['skipped', 'excluded', 'waiting'] as const)(
    'that is %s has the answer "ask first" if its single-use token might have been used',
    (state) => {
      const sent = { ...COMPANY, state, crossedAt: null, sentAt: new Date('2026-11-20T22:02:00.000Z') };
      expect(Object.values(rowsOf(sent, true))[0]).toContain('| ask first |');
      // The platform has refused the token, so neither side can use it.
      expect(Object.values(rowsOf({ ...sent, failure: 'reauthorization-required' }, true))[0]).toContain(
        state === 'waiting' ? '| yes |' : '| after its end customer has authorized your application again |',
      );
    },
  );

  test('that was created at the service but not moved is listed after the migration has ended', () => {
    const unused = { ...COMPANY, state: 'waiting', crossedAt: null } as const;
    const title = 'Created at the service, but not moved';
    expect(rowsOf(unused, true)[title]).toContain('| company | connection |');
    const section = sectionsOf('ended', NONE_REPLACED).find((each) => each.title === title);
    expect(section && sectionHead(section)).toContain('After the migration has been closed, we delete each company');
    for (const rows of [rowsOf(unused, false), rowsOf({ ...unused, companyId: null }, true)])
      expect(rows).not.toHaveProperty([title]);
    // The client must not delete a company that existed before the migration.
    expect(rowsOf({ ...unused, existedBefore: true }, true)).not.toHaveProperty([title]);
    expect(rowsOf({ ...unused, crossedAt: COMPANY.crossedAt }, true)).not.toHaveProperty([title]);
  });

  test('is in exactly one section in every state', () => {
    for (const state of COMPANY_STATES) expect(Object.keys(rowsOf({ ...COMPANY, state }, true))).toHaveLength(1);
  });
});
