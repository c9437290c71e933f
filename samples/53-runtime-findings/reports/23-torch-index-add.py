import torch
data = torch.tensor([], dtype=torch.int64).reshape((0, 0))
indices = torch.tensor([5], dtype=torch.int64)
updates = torch.tensor([[]], dtype=torch.int64).reshape((1, 0))
print('expected:', 'a refusal: index out of range; index[0] = 5; valid: none: axis 0 is empty', flush=True)
output = torch.index_add(input=data, index=indices, source=updates, dim=0)
print("seen:    ", output.tolist(), output.dtype, output.shape)
