import icon from '../icon.svg';

export function Mark() {
  return <img src={icon} alt="" width="32" height="32" />;
}
