from sim.memo import Memo


def test_a_value_is_worked_out_once_and_remembered() -> None:
    asked: list[int] = []

    def square(number: int) -> int:
        asked.append(number)
        return number * number

    squares = Memo(square)
    assert [squares[3], squares[4], squares[3]] == [9, 16, 9]
    assert asked == [3, 4]


def test_all_are_forgotten_when_there_are_too_many() -> None:
    squares: Memo[int, int] = Memo(lambda number: number * number, most=3)
    for number in range(10):
        assert squares[number] == number * number
        assert len(squares) <= 3
    assert squares[9] == 81
