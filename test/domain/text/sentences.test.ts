import { counted } from '../../../domain/text/sentences';

test.each([
  [0, 'company', '0 companies'],
  [1, 'company', '1 company'],
  [2, 'token family', '2 token families'],
  [1_203, 'line', '1,203 lines'],
  [1.5, 'hour', '1.5 hours'],
])('the count %d of "%s" is formatted as %s', (count, noun, text) => {
  expect(counted(count, noun)).toBe(text);
});
